// Places as an icicle: each is as wide as its time, below the one that it lies in. A click zooms to it.

// `id`: of the element; its buttons and the choice of the time have ids that begin with it.
// `looks`: color(place), hasHit(place).
function icicleIn(id, looks = {}) {
  const {element, time, count} = words;
  const byId = (name) => words.byId(name.replace(/^icicle/, id));
  const rowHeight = 22, narrowest = 3;  // pixels
  let places = [], children = [], tops = [], zoomed = null, chosen = null, value = 'gpu_ns', picked = () => {}, isHeard = false;

  const valueOf = (at) => places[at][value];
  const nameOf = (place) => (place.joined ? '(' + count(place.joined) + ' shorter ones)' : place.name);

  // From the outermost place in.
  function pathOf(at) {
    const path = [];
    for (let i = at; i !== null; i = places[i].parent) path.unshift(i);
    return path;
  }

  const colorOf = (place) => (place.joined ? theme.color('line') : looks.color ? looks.color(place) : theme.hueOf(place.name));
  const hasHit = (place) => Boolean(looks.hasHit) && looks.hasHit(place);

  function textOf(at, whole) {
    const place = places[at];
    const own = place['own_' + value];
    return words.shortened(nameOf(place)) + ': ' + time(valueOf(at)) + (whole > 0 ? ', ' + words.share(valueOf(at) / whole) : '') + ', itself ' + time(own) + ', ' + count(place.instances) + ' x';
  }

  // In parts of the width, which is another on paper.
  function block(at, depth, left, width, whole) {
    const room = byId('icicle').clientWidth;
    const made = element('button', {type: 'button', class: 'place' + (at === chosen ? ' chosen' : '') + (hasHit(places[at]) ? ' hit' : ''), title: textOf(at, whole), 'aria-label': textOf(at, whole), tabindex: '-1', 'data-place': at, 'data-depth': depth});
    made.textContent = width > 30 ? words.shortened(nameOf(places[at])) : '';
    Object.assign(made.style, {left: 100 * left / room + '%', width: 'calc(' + 100 * width / room + '% - 1px)', top: depth * rowHeight + 'px', background: colorOf(places[at]), color: places[at].joined ? theme.color('text') : theme.textOn(colorOf(places[at]))});
    return made;
  }

  const byTime = (list) => [...list].sort((a, b) => valueOf(b) - valueOf(a));

  // Those beside each other share the room of the one around them by their time; what is left is its own.
  function addBelow(made, list, depth, left, room, amount, whole) {
    for (const at of byTime(list)) {
      const width = amount > 0 ? room * valueOf(at) / amount : 0;
      if (width < narrowest) continue;
      made.push(block(at, depth, left, width, whole));
      addBelow(made, children[at], depth + 1, left, width, valueOf(at), whole);
      left += width;
    }
  }

  function draw() {
    const view = byId('icicle');
    const room = view.clientWidth;
    const whole = tops.reduce((sum, at) => sum + valueOf(at), 0);
    const made = [];
    const around = zoomed === null ? [] : pathOf(zoomed);
    around.forEach((at, depth) => made.push(block(at, depth, 0, room, whole)));
    if (zoomed === null) addBelow(made, tops, 0, 0, room, whole, whole);
    else addBelow(made, children[zoomed], around.length, 0, room, valueOf(zoomed), whole);
    const deepest = made.reduce((depth, one) => Math.max(depth, Number(one.dataset.depth)), 0);
    view.style.height = (deepest + 1) * rowHeight + 'px';
    view.replaceChildren(...made);
    (view.querySelector('.chosen') || made[0] || view).setAttribute('tabindex', '0');
    byId('icicle-all').disabled = zoomed === null;
    if (byId('icicle-timeline')) byId('icicle-timeline').disabled = chosen === null || places[chosen].joined > 0;
  }

  // Null: everything.
  function zoom(at) {
    zoomed = at;
    chosen = at;
    draw();
  }

  function step(from, key) {
    const depth = Number(from.dataset.depth);
    const all = [...byId('icicle').children];
    const level = all.filter((one) => Number(one.dataset.depth) === depth);
    if (key === 'ArrowRight') return level[level.indexOf(from) + 1];
    if (key === 'ArrowLeft') return level[level.indexOf(from) - 1];
    const place = Number(from.dataset.place);
    if (key === 'ArrowUp') return all.find((one) => Number(one.dataset.place) === places[place].parent);
    return all.find((one) => places[Number(one.dataset.place)].parent === place);
  }

  function listen() {
    const view = byId('icicle');
    view.addEventListener('click', (event) => {
      const hit = event.target.closest('.place');
      if (hit === null) return;
      const at = Number(hit.dataset.place);
      // A second click on what fills the page already goes one up.
      const hadFocus = document.activeElement === hit;
      zoom(at === zoomed ? places[at].parent : at);
      if (hadFocus) (view.querySelector('.chosen') || view.querySelector('.place')).focus();
      picked(chosen);
    });
    view.addEventListener('keydown', (event) => {
      if (!event.key.startsWith('Arrow') || !event.target.classList.contains('place')) return;
      event.preventDefault();
      const next = step(event.target, event.key);
      if (next === undefined) return;
      event.target.setAttribute('tabindex', '-1');
      next.setAttribute('tabindex', '0');
      next.focus();
    });
    byId('icicle-all').addEventListener('click', () => { zoom(null); picked(null); });
    if (byId('icicle-timeline')) byId('icicle-timeline').addEventListener('click', () => timeline.find(places[chosen].name));
    byId('icicle-value').addEventListener('change', (event) => { value = event.target.value; draw(); });
    window.addEventListener('resize', draw, {signal});
    theme.onChange(draw);
    isHeard = true;
  }

  // `onPick` hears of the place that was clicked, or null.
  function show(all, onPick) {
    places = all;
    picked = onPick;
    tops = [];
    zoomed = chosen = null;
    children = places.map(() => []);
    places.forEach((place, at) => {
      if (place.style) return;
      if (place.parent === null) tops.push(at);
      else children[place.parent].push(at);
    });
    if (tops.length === 0) {
      byId('icicle-part').remove();
      return;
    }
    if (tops.every((at) => places[at].gpu_ns === 0)) value = byId('icicle-value').value = 'cpu_ns';
    if (!isHeard) listen();
    draw();
  }

  // The greatest places that hasHit, without those inside of them: their time together, and that of all.
  function hits() {
    let found = 0;
    const add = (at) => {
      if (hasHit(places[at])) found += valueOf(at);
      else children[at].forEach(add);
    };
    tops.forEach(add);
    return {found, whole: tops.reduce((sum, at) => sum + valueOf(at), 0)};
  }

  return {show, zoom, pathOf, nameOf, draw, hits, valueName: () => value};
}
const icicle = icicleIn('icicle');
