// Reads the data: what is of all captures together, then the parts of the first.

(async () => {
  if (typeof DecompressionStream === 'undefined') {
    const stop = words.byId('stop');
    stop.textContent = 'This browser is too old for this page, which needs Chrome 90, Firefox 113, Safari 16.4 or a newer one: it lacks DecompressionStream.';
    stop.hidden = false;
    for (const empty of document.querySelectorAll('main, nav')) empty.hidden = true;
    return;
  }
  try {
    if (!data.has('analyze')) await pageIsWhole;  // a page of several captures
    // Before the parts: the table of kernels has columns of it.
    if (data.has('comparison')) comparison.show(await data.document('comparison'));
    await captures.open();
    if (data.has('ranks')) ranks.show(await data.document('ranks'));
    // The browser may draw what is there before the parts are made.
    await new Promise((done) => setTimeout(done, 0));
    await captures.showFirst();
    document.documentElement.dataset.ready = 'yes';
  } catch (failure) {
    words.stop(failure);
  }
})();
