// Which lines the table of kernels shows: by a part of their text, the range or graph that kernels were launched from, what bounds them.

const kernelFilters = (() => {
  const {element, byId, count} = words;
  const ids = ['kernel-search', 'kernel-range', 'kernel-graph', 'kernel-bound'];
  let names = [], places = {}, place = null;

  // The range or graph that is chosen: time inside by name of the kernel.
  function insideOf(kind, chosen) {
    if (chosen === '') return null;
    const of = places[kind][Number(chosen)];
    return new Map(of.kernels.map(([kernel, , ns]) => [names[kernel], ns]));
  }

  // Of kernels in both, how long they took in both is not known.
  function both(a, b) {
    if (a === null || b === null) return a || b;
    return new Map([...a.keys()].filter((name) => b.has(name)).map((name) => [name, null]));
  }

  function keeps(row, by) {
    const part = byId('kernel-search').value.toLowerCase();
    if (part !== '' && ![row.name, words.kernelName(row.name), row.grid, row.block].some((text) => (text || '').toLowerCase().includes(part))) return false;
    const bound = byId('kernel-bound').value;
    if (bound !== '' && (row.bound || '') !== bound) return false;
    if (place === null || by === 'ranges' || by === 'graphs') return true;
    return place.has(row.name);
  }

  function choose(apply) {
    place = both(insideOf('ranges', byId('kernel-range').value), insideOf('graphs', byId('kernel-graph').value));
    byId('kernel-filter-note').textContent = place === null ? '' : 'Lines of kernels that were launched there; their other figures are of all their launches.';
    apply();
  }

  function clear() {
    for (const id of ids) byId(id).value = '';
    place = null;
    byId('kernel-filter-note').textContent = '';
  }

  function offerPlaces(kind, id) {
    const select = byId(id);
    if (places[kind].length === 0) select.parentElement.hidden = true;
    places[kind].forEach((one, at) => select.append(element('option', {value: at}, one.name)));
  }

  function offer(rows, details, apply) {
    names = details.names;
    places = {ranges: details.ranges, graphs: details.graphs};
    offerPlaces('ranges', 'kernel-range');
    offerPlaces('graphs', 'kernel-graph');
    const bounds = new Set(Object.values(rows).flat().map((row) => row.bound).filter((bound) => bound));
    if (bounds.size === 0) byId('kernel-bound').parentElement.hidden = true;
    for (const bound of [...bounds].sort()) byId('kernel-bound').append(element('option', {value: bound}, bound));
    if (details.more_ranges > 0) words.note('kernel-notes', count(details.more_ranges) + ' more ranges, of less time, cannot be chosen.');
    if (details.more_graphs > 0) words.note('kernel-notes', count(details.more_graphs) + ' more graphs, of less time, cannot be chosen.');
    if (details.not_placed > 0) words.note('kernel-notes', count(details.not_placed) + ' launches were in too many different ranges or graphs to tell where.');
    byId('kernel-search').addEventListener('input', apply);
    byId('kernel-bound').addEventListener('change', apply);
    for (const id of ['kernel-range', 'kernel-graph']) byId(id).addEventListener('change', () => choose(apply));
    byId('kernel-clear').addEventListener('click', () => {
      clear();
      apply();
    });
  }

  // Time of the line's kernel in the range or graph that is chosen.
  const inside = (row) => (place === null ? null : place.get(row.name));

  return {offer, keeps, clear, inside, place: () => place};
})();
