// Makes the tables of the page: laid out anew only when their width changes, sorted and opened by keys, too.

const tables = (() => {
  const {element, time, count, known} = words;

  // Tabulator itself lays a table out anew whenever it comes into view or its height changes: a row that is put back
  // between a press and its release hears of no click.
  function watchWidth(table, signal) {
    let width = table.element.clientWidth;
    const observer = new ResizeObserver(() => {
      const now = table.element.clientWidth, before = width;
      if (now === 0 || now === before) return;  // hidden: what it looks like is decided when it is shown
      width = now;
      table.redraw(before === 0);
    });
    observer.observe(table.element);
    table.on('tableDestroyed', () => observer.disconnect());
    if (signal) signal.addEventListener('abort', () => observer.disconnect());
  }

  // All tables of Tabulator have one id for their rows.
  function nameRows({element: grid}) {
    const rows = grid.querySelector('.tabulator-table');
    rows.id = grid.id + '-rows';
    grid.setAttribute('aria-owns', rows.id);
  }

  function sortByKeys({element: grid}) {
    for (const title of grid.querySelectorAll('.tabulator-col.tabulator-sortable')) title.setAttribute('tabindex', '0');
    grid.querySelector('.tabulator-header').addEventListener('keydown', (event) => {
      if ((event.key !== 'Enter' && event.key !== ' ') || !event.target.classList.contains('tabulator-sortable')) return;
      event.preventDefault();
      event.target.click();
    });
  }

  // `height`: of a table with more than 14 rows. `signal`: the table is no longer shown. Columns are resized at their
  // titles: a handle between cells would take clicks from rows.
  function create(place, label, {height = '420px', columnDefaults = {}, ...options}, signal) {
    const table = new Tabulator(place, {
      layout: 'fitColumns', autoResize: false, height: options.data.length > 14 ? height : false, columnDefaults: {resizable: 'header', ...columnDefaults}, ...options
    });
    table.element.setAttribute('aria-label', label);
    table.on('tableBuilt', () => {
      nameRows(table);
      sortByKeys(table);
      // Tabulator's own tooltips stay when the pointer leaves, or come after it has left.
      table.element.addEventListener('mouseleave', () => table.modules.tooltip.clearPopup());
      watchWidth(table, signal);
    });
    return table;
  }

  // A column of figures, as `text(value, row)` says them.
  function figures(title, field, text, extra) {
    return {
      title, field, hozAlign: 'right', sorter: 'number', headerSortStartingDir: 'desc',
      formatter: (cell) => document.createTextNode(text(cell.getValue(), cell.getRow().getData())), ...extra
    };
  }

  // What a row opens, as a button for those without a mouse: its click is one on the row.
  const nameButton = (name) => element('button', {type: 'button', class: 'name'}, name);

  function textOf(name, value) {
    if (!known(value)) return value === null || value === undefined ? '' : String(value);
    if (name.endsWith('(ns)')) return time(value);
    if (name.endsWith('(%)')) return value.toFixed(1) + ' %';
    return Number.isInteger(value) && name !== 'PID' ? count(value) : String(value);
  }

  // Columns are those of `gpuprof stats`, in its words. A name has the room that is left, and stands first; numbers are as wide as their titles.
  function columnOf(name, rows) {
    const isNumber = rows.some((row) => typeof row[name] === 'number');
    const title = name.replace(/ \(ns\)$/, '');
    const isLong = ['Name', 'Range', 'Capture', 'Operation'].includes(name);
    return {
      title, field: name, sorter: isNumber ? 'number' : 'string', hozAlign: isNumber ? 'right' : 'left', headerSortStartingDir: isNumber ? 'desc' : 'asc',
      ...(isLong ? {minWidth: 220, widthGrow: 3} : {width: Math.max(84, 46 + 8 * title.length)}),
      formatter: (cell) => document.createTextNode(isLong ? words.kernelName(textOf(name, cell.getValue())) : textOf(name, cell.getValue())),
      tooltip: (event, cell) => element('div', {}, textOf(name, cell.getValue()))
    };
  }

  // Tabulator takes a dot in a field for a path.
  function make(place, report, options, signal) {
    const isName = (name) => name === 'Name' || name === 'Operation';
    const names = report.rows.length > 0 ? Object.keys(report.rows[0]).sort((a, b) => isName(b) - isName(a)) : [];
    const columns = names.map((name) => columnOf(name, report.rows));
    return create(place, report.title, {data: report.rows, columns, nestedFieldSeparator: false, ...options}, signal);
  }

  function notesOf(report) {
    const lines = report.missing ? [report.missing] : [...report.notes];
    if (report.left_out > 0) lines.push(count(report.left_out) + ' more lines are left out of this page; gpuprof stats has all.');
    return lines;
  }

  return {create, figures, nameButton, make, notesOf};
})();
