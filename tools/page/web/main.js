// Shows the parts of a capture, the summary first.

async function showParts() {
  // The browser may draw what is there before the next part is made.
  const pause = () => new Promise((done) => setTimeout(done, 0));
  const advice = await data.document('analyze');
  summary.show(await data.document('facts'), advice);
  await pause();
  const stats = await data.document('stats');
  const roof = await data.document('roofline');
  kernels.show_(stats, roof, advice, await data.document('details'));
  await pause();
  roofline.show(roof);
  await pause();
  await timeline.show();
  await pause();
  ranges.show(stats, roof, advice, await data.document('places'));
  calls.show(stats);
}
