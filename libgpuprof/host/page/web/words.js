// Numbers and names as people read them; elements made of text, never of HTML.

const words = (() => {
  const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
  const digits = (value) => value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);

  function scaled(value, units, unit) {
    if (!known(value)) return '';
    let at = 0;
    while (at + 1 < units.length && Math.abs(value) >= 999.5) {
      value /= 1000;
      ++at;
    }
    return digits(value) + ' ' + units[at] + unit;
  }

  const time = (ns) => (known(ns) ? (Math.abs(ns) < 1000 ? Math.round(ns) + ' ns' : scaled(ns / 1000, ['us', 'ms', 's'], '')) : '');
  // With as many digits as tell moments apart that are so many ns from each other.
  function timeTo(step) {
    return (ns) => {
      const [unit, size] = Math.abs(ns) >= 1e9 ? ['s', 1e9] : Math.abs(ns) >= 1e6 ? ['ms', 1e6] : Math.abs(ns) >= 1e3 ? ['us', 1e3] : ['ns', 1];
      const places = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(1, step)))));
      return ns === 0 ? '0' : (ns / size).toFixed(places) + ' ' + unit;
    };
  }
  const number = (of, what) => count(of) + ' ' + what + (of === 1 ? '' : what.endsWith('ch') ? 'es' : 's');
  const rate = (perSecond, unit) => scaled(perSecond, ['', 'k', 'M', 'G', 'T', 'P'], unit);
  const share = (part) => (known(part) ? (100 * part).toFixed(1) + ' %' : '');
  const count = (number) => (known(number) ? Math.round(number).toLocaleString('en-US') : '');
  const figure = (value) => (known(value) ? (Math.abs(value) >= 999.5 ? count(value) : String(+value.toPrecision(3))) : '');
  const callName = (name) => name.replace(/_v\d+(_ptds|_ptsz)?$/, '');

  // Without what says nothing: the result type, well-known namespaces, how arguments are passed.
  const kernelName = (name) => name.replace(/^void /, '').replace(/\(anonymous namespace\)::|\bat::native::|\bstd::/g, '').replace(/, array<[^<>]*>/g, '');

  // A name outside of tables, where one of 64 KB would hide all else. Tables show the whole name where one points at it.
  const maxShown = 300;
  const shortened = (name) => (name.length > maxShown ? name.slice(0, maxShown).replace(/[\ud800-\udbff]$/, '') + '\u2026' : name);
  // A name of the timeline, which gpuprof shortens: its part that stands in the whole name.
  const uncut = (name) => (name.length >= 100 && name.endsWith('...') ? name.slice(0, -3) : name);

  // element('p', {class: 'note'}, 'text', other element)
  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children.filter((child) => child !== null && child !== ''));
    return made;
  }
  const byId = (id) => document.getElementById(id);
  function note(place, text) {
    byId(place).append(element('p', {class: 'note'}, text));
  }

  // What the page holds cannot be shown: said on the page and, for those who look, on the console.
  function stop(failure) {
    byId('stop').textContent = 'This page is damaged: ' + failure.message;
    byId('stop').hidden = false;
    throw failure;
  }

  return {stop, known, time, timeTo, number, rate, share, count, figure, callName, kernelName, shortened, uncut, element, byId, note};
})();
