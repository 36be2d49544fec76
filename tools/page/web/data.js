'use strict';
// What gpuprof put into this page: compressed documents and columns of numbers.

const data = (() => {
  async function bytesOf(name) {
    const element = document.getElementById('data-' + name);
    if (element === null) throw new Error('this page lacks its part "' + name + '"');
    const letters = atob(element.textContent);
    element.textContent = '';
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  async function document_(name) {
    return JSON.parse(new TextDecoder().decode(await bytesOf(name)));
  }

  // The lowest bytes of all numbers, then the next ones; the first byte says how many planes there are.
  async function numbers(name) {
    const bytes = await bytesOf(name);
    const planes = bytes[0];
    const count = planes === 0 ? 0 : (bytes.length - 1) / planes;
    const made = new Float64Array(count);
    for (let plane = 0, scale = 1; plane < planes; ++plane, scale *= 256)
      for (let i = 0, at = 1 + plane * count; i < count; ++i) made[i] += scale * bytes[at + i];
    return made;
  }

  return {document: document_, numbers};
})();
