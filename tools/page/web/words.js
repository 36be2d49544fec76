// Numbers and names as people read them; elements made of text, never of HTML.

const words = (() => {
  const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
  const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

  function scaled(value, units, unit) {
    if (!known(value)) return '';
    let at = 0;
    while (at + 1 < units.length && Math.abs(value) >= 999.5) {
      value /= 1000;
      ++at;
    }
    return digits(value) + ' ' + units[at] + unit;
  }

  const time = (ns) => (known(ns) ? (ns < 1000 ? Math.round(ns) + ' ns' : scaled(ns / 1000, ['us', 'ms', 's'], '')) : '');
  const rate = (perSecond, unit) => scaled(perSecond, ['', 'k', 'M', 'G', 'T', 'P'], unit);
  const share = (part) => (known(part) ? (100 * part).toFixed(1) + ' %' : '');
  const count = (number) => (known(number) ? Math.round(number).toLocaleString('en-US') : '');
  const callName = (name) => name.replace(/_v\d+(_ptds|_ptsz)?$/, '');

  // Without what says nothing: the result type, namespaces without a name.
  const kernelName = (name) => name.replace(/^void /, '').replace(/\(anonymous namespace\)::/g, '');

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

  return {stop, known, time, rate, share, count, callName, kernelName, element, byId, note};
})();
