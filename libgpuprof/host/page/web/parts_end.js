// For tests and for people at the console.
Object.assign(window, {timelineRows, timelineView, timelineSearch, kernelRows});
return showParts;
}
