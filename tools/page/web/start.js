// Reads the data: what is of all captures together, then the parts of the first.

(async () => {
  const stop = words.byId('stop');
  if (typeof DecompressionStream === 'undefined') {
    stop.textContent = 'This browser is too old for this page: it needs DecompressionStream (Chrome 80, Firefox 113, Safari 16.4).';
    stop.hidden = false;
    return;
  }
  try {
    // Before the parts: the table of kernels has columns of it.
    if (data.has('comparison')) comparison.show(await data.document('comparison'));
    await captures.start();
    if (data.has('ranks')) ranks.show(await data.document('ranks'));
    document.documentElement.dataset.ready = 'yes';
  } catch (failure) {
    stop.textContent = 'This page is damaged: ' + failure.message;
    stop.hidden = false;
    throw failure;
  }
})();
