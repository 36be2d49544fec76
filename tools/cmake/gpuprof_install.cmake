# What `cmake --install` lays out: a relocatable tree.
