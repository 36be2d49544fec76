// Reads the data and shows the parts, the summary first.

(async () => {
  const stop = words.byId('stop');
  if (typeof DecompressionStream === 'undefined') {
    stop.textContent = 'This browser is too old for this page: it needs DecompressionStream (Chrome 80, Firefox 113, Safari 16.4).';
    stop.hidden = false;
    return;
  }
  // The browser may draw what is there before the next part is made.
  const pause = () => new Promise((done) => setTimeout(done, 0));
  try {
    const advice = await data.document('analyze');
    summary.show(await data.document('facts'), advice);
    await pause();
    const stats = await data.document('stats');
    const roof = await data.document('roofline');
    kernels.show_(stats, roof, advice, await data.document('details'));
    await pause();
    roofline.show(roof);
    await pause();
    await timeline.show(advice.steps || []);
    await pause();
    ranges.show(stats, roof, advice);
    document.documentElement.dataset.ready = 'yes';
  } catch (failure) {
    stop.textContent = 'This page is damaged: ' + failure.message;
    stop.hidden = false;
    throw failure;
  }
})();
