// Shows the parts of a capture, the summary first.

async function showParts() {
  // The browser draws what is there before the next part is made. It draws no page that is in the background.
  const pause = () => new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done, 0));
    setTimeout(done, 100);
  });
  const advice = await data.document('analyze');
  summary.show(await data.document('facts'), advice);
  await pause();
  performance.mark('summary');
  await pageIsWhole;
  const stats = await data.document('stats');
  const roof = await data.document('roofline');
  kernels.show_(stats, roof, advice, await data.document('details'));
  await pause();
  roofline.show(roof);
  await pause();
  await timeline.show();
  await pause();
  ranges.show(stats, roof, advice, await data.document('places'));
  await pause();
  stacks.show(await data.document('stacks'));
  calls.show(stats);
}
