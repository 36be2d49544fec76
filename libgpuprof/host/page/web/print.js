// On paper: the colors of the light theme, charts as wide as the paper, tables of the first rows in place of those that scroll.

const print = (() => {
  const {element, count} = words;
  const maxRows = 40, paperWidth = 690;  // px: A4 and Letter with usual margins have 700 and more

  // The text that a cell shows, without making the cell.
  function textOf(column, data, row) {
    const value = data[column.getField()];
    const formatter = column.getDefinition().formatter;
    if (typeof formatter !== 'function') return value === null || value === undefined ? '' : String(value);
    const made = formatter({getValue: () => value, getRow: () => row, getData: () => data, getField: () => column.getField()});
    return made instanceof Node ? made.textContent : String(made);
  }

  function staticTable(place) {
    const [table] = Tabulator.findTable(place) || [];
    if (!table) return;
    const columns = table.getColumns().filter((column) => column.isVisible() && column.getField());
    const rows = table.getRows('active');
    const head = element('tr', {}, ...columns.map((column) => element('th', {scope: 'col'}, column.getDefinition().title || '')));
    const body = rows.slice(0, maxRows).map((row) => element('tr', {}, ...columns.map((column) => element('td', {}, element('div', {}, textOf(column, row.getData(), row))))));
    const more = rows.length > maxRows ? element('p', {class: 'note'}, 'The first ' + maxRows + ' of ' + count(rows.length) + ' lines.') : null;
    place.after(element('div', {class: 'on-paper', id: place.id + '-on-paper'}, element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)), more));
  }

  // At once: the browser takes its picture of the page before it would draw again.
  function resize(width) {
    for (const chart of charts()) {
      chart.resize({width});
      chart.getZr().flush();
    }
  }

  const charts = () => [...document.querySelectorAll('.chart')].map((place) => echarts.getInstanceByDom(place)).filter((chart) => chart);

  function before() {
    after();
    theme.forPaper(true);
    resize(paperWidth);
    for (const place of document.querySelectorAll('.tabulator')) staticTable(place);
  }

  function after() {
    for (const made of document.querySelectorAll('.on-paper')) made.remove();
    theme.forPaper(false);
    resize('auto');
  }

  window.addEventListener('beforeprint', before);
  window.addEventListener('afterprint', after);
  return {before, after};
})();
