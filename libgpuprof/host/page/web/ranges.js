// The table of NVTX ranges with the GPU work launched inside of them, by place or by name.

const ranges = (() => {
  const {element, byId, time, rate, share, count} = words;
  let table = null, of = {}, shownBy = 'places';

  function rowsOf(stats, roof) {
    const lines = new Map((roof.ranges ? roof.ranges.ranges : []).map((line) => [line.name || line.range, line]));
    const report = stats.nvtx_gpu_proj_sum;
    if (report.missing) {
      words.note('range-notes', report.missing);
      return [];
    }
    if (report.left_out > 0) words.note('range-notes', count(report.left_out) + ' more ranges are left out of this page; gpuprof stats has all.');
    return report.rows.map((row) => {
      const line = lines.get(row['Range']) || {};
      return {
        name: row['Range'], on_gpu: row['Total Proj Time (ns)'], on_cpu: row['Total Range Time (ns)'], instances: row['Range Instances'],
        median: row['Proj Med (ns)'], work: row['Total GPU Ops'], flops: line.flops, dram: line.dram_bytes_per_second, roof: line.of_roof
      };
    });
  }

  const figures = (fields) => fields.map(([title, field, text, width]) => tables.figures(title, field, text, {width}));
  const reached = [['FLOP/s', 'flops', (v) => rate(v, 'FLOP/s'), 112], ['DRAM', 'dram', (v) => rate(v, 'B/s'), 96], ['Of roof', 'roof', share, 100]];

  function columnsByName() {
    return [{title: 'Range', field: 'name', minWidth: 220, widthGrow: 3}, ...figures([['On the GPU', 'on_gpu', time, 120], ['On the CPU', 'on_cpu', time, 120],
      ['Instances', 'instances', count, 110], ['Median on the GPU', 'median', time, 160], ['Operations', 'work', count, 118], ...reached])];
  }

  // Start/end ranges are not.
  const isInIcicle = (row) => !row.style;

  // A place stands below the one that it lies in, further right; where it is in words when one points at it.
  function columnsByPlace() {
    const nameCell = (cell) => {
      const row = cell.getRow().getData();
      const name = isInIcicle(row) ? tables.nameButton(row.name) : element('span', {}, row.name);
      name.style.paddingLeft = 14 * Math.min(row.depth, 12) + 'px';
      return name;
    };
    return [{title: 'Range', field: 'name', minWidth: 220, widthGrow: 3, formatter: nameCell, tooltip: (event, cell) => element('div', {}, cell.getRow().getData().path)},
      ...figures([['GPU', 'gpu_ns', time, 96], ['GPU itself', 'own_gpu_ns', time, 110], ['CPU', 'cpu_ns', time, 96], ['CPU itself', 'own_cpu_ns', time, 110],
        ['Instances', 'instances', count, 110], ['Operations', 'operations', count, 118], ...reached]), {title: 'Bound by', field: 'bound', width: 100}];
  }

  // In order of the tree, the longest of those beside each other first.
  function rowsByPlace(places) {
    const below = new Map();
    places.forEach((place, at) => below.set(place.parent, [...(below.get(place.parent) || []), at]));
    const rows = [];
    const add = (parent) => {
      for (const at of (below.get(parent) || []).sort((a, b) => places[b].gpu_ns - places[a].gpu_ns || places[b].cpu_ns - places[a].cpu_ns)) {
        const place = places[at], path = icicle.pathOf(at);
        rows.push({
          ...place, id: at, name: icicle.nameOf(place), depth: path.length - 1, path: path.map((one) => icicle.nameOf(places[one])).join(' / '),
          dram: place.dram_bytes_per_second, roof: place.of_roof, bound: place.bound_by
        });
        add(at);
      }
    };
    add(null);
    return rows;
  }

  function showTable(by) {
    const isByPlace = by === 'places';
    const rows = of[by];
    if (table !== null) table.destroy();
    table = tables.create('#range-table', 'NVTX ranges', {
      data: rows, selectableRows: 1, placeholder: 'No NVTX ranges', columns: isByPlace ? columnsByPlace() : columnsByName(),
      ...(isByPlace ? {} : {initialSort: [{column: 'on_gpu', dir: 'desc'}]})
    }, signal);
    if (isByPlace) table.on('rowClick', (event, row) => { if (isInIcicle(row.getData())) icicle.zoom(row.getData().id); });
  }

  // From the icicle: its line in the table.
  function mark(at) {
    byId('range-by').value = 'places';
    const select = () => {
      table.deselectRow();
      if (at === null) return;
      table.selectRow(at);
      table.scrollToRow(at, 'center', false).catch(() => {});
    };
    if (shownBy === 'places') return select();
    shownBy = 'places';
    showTable('places');
    table.on('tableBuilt', select);
  }

  function notesOf(places) {
    if (places.joined > 0) words.note('range-notes', count(places.joined) + ' places that take little time stand together with those beside them; gpuprof stats has all ranges.');
    const apart = places.paths.filter((place) => place.style).length;
    if (apart > 0) words.note('range-notes', count(apart) + ' start/end ranges are in the table, not in the picture: they lie in no other, and overlap.');
    if (places.paths.length > 0) words.note('range-notes', 'GPU: kernels, copies, fills and graphs that were launched inside, added up; itself: without those of ranges inside.');
  }

  function show(stats, roof, advice, places) {
    steps.show(advice, places);
    icicle.show(places.paths, mark);
    of = {names: rowsOf(stats, roof), places: rowsByPlace(places.paths)};
    showTable(shownBy);
    notesOf(places);
    byId('range-by').addEventListener('change', (event) => {
      shownBy = event.target.value;
      showTable(shownBy);
    });
  }

  return {show};
})();
