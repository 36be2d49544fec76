'use strict';
// What gpuprof put into this page: compressed documents and columns of numbers.

// The program stands behind what the summary shows, and before all other data and the libraries: they are there from now on.
const pageIsWhole = new Promise((done) => {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', done, {once: true});
  else done();
});

const data = (() => {
  // `keeps`: it may be asked for again.
  async function bytesOf(name, keeps) {
    const element = document.getElementById('data-' + name);
    if (element === null) throw new Error('this page lacks its part "' + name + '"');
    const letters = atob(element.textContent);
    if (!keeps) element.textContent = '';
    const packed = new Uint8Array(letters.length);
    for (let i = 0; i < packed.length; ++i) packed[i] = letters.charCodeAt(i);  // Uint8Array.from() calls a function for each
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  async function document_(name, keeps) {
    return JSON.parse(new TextDecoder().decode(await bytesOf(name, keeps)));
  }

  // The lowest bytes of all numbers, then the next ones; the first byte says how many planes there are.
  async function numbers(name, keeps) {
    const bytes = await bytesOf(name, keeps);
    const planes = bytes[0];
    const count = planes === 0 ? 0 : (bytes.length - 1) / planes;
    const made = new Float64Array(count);
    for (let plane = 0, scale = 1; plane < planes; ++plane, scale *= 256)
      for (let i = 0, at = 1 + plane * count; i < count; ++i) made[i] += scale * bytes[at + i];
    return made;
  }

  const has = (name) => document.getElementById('data-' + name) !== null;
  // What the page holds of one of several captures, which a reader may choose again.
  const ofCapture = (prefix) => ({
    has: (name) => has(prefix + name), document: (name) => document_(prefix + name, true), numbers: (name) => numbers(prefix + name, true)
  });
  return {has, document: (name) => document_(name, false), numbers: (name) => numbers(name, false), ofCapture};
})();
