// Which of several captures the parts of the page show: a chooser in the heading, as soon as there are two.

const captures = (() => {
  const {element, byId, count} = words;
  // Parts as they are before anything is shown in them.
  const blank = [...document.querySelectorAll('main > section:not([data-of-all])')].map((part) => part.cloneNode(true));
  let life = new AbortController();
  let all = null;

  function clear() {
    life.abort();
    life = new AbortController();
    for (const table of document.querySelectorAll('main > section:not([data-of-all]) .tabulator'))
      for (const known of Tabulator.findTable(table) || []) known.destroy();
    for (const part of blank) {
      for (const chart of byId(part.id).querySelectorAll('[_echarts_instance_]')) echarts.getInstanceByDom(chart).dispose();
      byId(part.id).replaceWith(part.cloneNode(true));
    }
    for (const id of ['capture', 'version']) byId(id).textContent = '';
  }

  function showOne(from) {
    const {signal} = life;
    return partsOf({data: from, signal, theme: {...theme, onChange: (listener) => theme.onChange(listener, signal)}})();
  }

  // The reader stays where he is on the page. One whose data is damaged leaves the others to choose. One at a
  // time: what is chosen while another is made counts for nothing.
  async function choose(at) {
    const choice = byId('capture-choice'), main = document.querySelector('main');
    if (choice.disabled) return;
    const hadFocus = document.activeElement === choice;
    const moment = window.scrollY;
    choice.value = String(at);
    choice.disabled = true;
    document.documentElement.dataset.ready = 'no';
    main.style.minHeight = main.offsetHeight + 'px';
    byId('stop').hidden = true;
    clear();
    try {
      await showOne(data.ofCapture('capture-' + at + '-'));
      document.documentElement.dataset.ready = 'yes';
    } catch (failure) {
      words.stop(failure);
    } finally {
      choice.disabled = false;
      if (hadFocus) choice.focus();
      main.style.minHeight = '';
      window.scrollTo({top: moment, behavior: 'instant'});
    }
  }

  const nameOf = (one) => (all.what === 'rank' ? 'rank ' + one.label : one.label);

  function offer() {
    const choice = byId('capture-choice');
    all.captures.forEach((one, at) => {
      if (one.has_parts) choice.append(element('option', {value: String(at)}, nameOf(one)));
    });
    byId('capture-choice-label').hidden = false;
    choice.addEventListener('change', () => choose(Number(choice.value)));
    const without = all.captures.filter((one) => !one.has_parts).length;
    const limits = 'Of each of the ' + count(all.captures.length) + ' captures this page holds tables of up to ' + count(all.max_rows) + ' lines and a timeline of up to ' +
      count(all.max_bars) + ' bars.' + (without > 0 ? ' Of ' + count(without) + ' captures there is no room for that: only what compares them.' : '');
    byId('captures-note').append(element('p', {class: 'note'}, limits));
  }

  // A page of one capture has no chooser.
  async function open() {
    if (!data.has('captures')) return;
    all = await data.document('captures');
    offer();
  }

  async function showFirst() {
    await showOne(all === null ? data : data.ofCapture('capture-0-'));
    byId('capture-choice').disabled = false;
  }

  // Whether the table of kernels of this capture has one of these names.
  async function hasKernel(at, names) {
    if (!all.captures[at].has_parts) return false;
    const report = (await data.ofCapture('capture-' + at + '-').document('stats')).cuda_gpu_kern_sum;
    return !report.missing && report.rows.some((row) => names.includes(row['Name']));
  }

  const list = () => all.captures;
  const shown = () => Number(byId('capture-choice').value);
  return {open, showFirst, choose, list, shown, hasKernel, nameOf};
})();
