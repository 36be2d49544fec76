return showParts;
}
