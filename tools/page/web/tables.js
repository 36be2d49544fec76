// Tables whose columns are those of `gpuprof stats`, in its words: of times, counts and texts.

const tables = (() => {
  const {time, count, known} = words;

  function textOf(name, value) {
    if (!known(value)) return value === null || value === undefined ? '' : String(value);
    if (name.endsWith('(ns)')) return time(value);
    if (name.endsWith('(%)')) return value.toFixed(1) + ' %';
    return Number.isInteger(value) && name !== 'PID' ? count(value) : String(value);
  }

  // A name has the room that is left, and stands first; numbers are as wide as their titles.
  function columnOf(name, rows) {
    const isNumber = rows.some((row) => typeof row[name] === 'number');
    const title = name.replace(/ \(ns\)$/, '');
    const isLong = ['Name', 'Range', 'Capture', 'Operation'].includes(name);
    return {
      title, field: name, sorter: isNumber ? 'number' : 'string', hozAlign: isNumber ? 'right' : 'left', headerSortStartingDir: isNumber ? 'desc' : 'asc',
      ...(isLong ? {minWidth: 220, widthGrow: 3} : {width: Math.max(84, 46 + 8 * title.length)}),
      formatter: (cell) => document.createTextNode(isLong ? words.kernelName(textOf(name, cell.getValue())) : textOf(name, cell.getValue())),
      tooltip: (event, cell) => words.element('div', {}, textOf(name, cell.getValue()))
    };
  }

  // Tabulator takes a dot in a field for a path.
  function make(place, report, options) {
    const names = report.rows.length > 0 ? Object.keys(report.rows[0]) : [];
    return new Tabulator(place, {
      data: report.rows, columns: names.map((name) => columnOf(name, report.rows)), layout: 'fitColumns', nestedFieldSeparator: false,
      height: report.rows.length > 14 ? '420px' : false, ...options
    });
  }

  function notesOf(report) {
    const lines = report.missing ? [report.missing] : [...report.notes];
    if (report.left_out > 0) lines.push(count(report.left_out) + ' more lines are left out of this page; gpuprof stats has all.');
    return lines;
  }

  return {make, notesOf};
})();
