// For tests and for people at the console.
Object.assign(window, {timelineRows, timelineView, timelinePath, timelineSearch, kernelRows});
return showParts;
}
