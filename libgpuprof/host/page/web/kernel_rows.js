// Lines of the table of kernels: times as `gpuprof stats` has them, rates as `gpuprof roofline`, gains as `gpuprof analyze`.

const kernelRows = (() => {
  const {known, share, time} = words;

  const notRecorded = 'not recorded';  // the capture has the name of the kernel only
  const extent = (text) => (text === notRecorded ? text : (text || '').trim().replace(/\s+/g, ' x '));
  const extentOf = (numbers) => (numbers ? (numbers[0] > 0 ? numbers.join(' x ') : notRecorded) : '');
  const keyOf = (name, grid, block) => [name, grid, block].join('\u0000');

  function rowOf(timed, counted) {
    const row = {
      name: counted ? counted.name : timed['Name'],
      share: timed ? timed['Time (%)'] / 100 : counted.time_share,
      total: timed ? timed['Total Time (ns)'] : counted.time_ns,
      launches: timed ? timed['Instances'] : counted.launches,
      median: timed ? timed['Med (ns)'] : null,
      grid: timed ? extent(timed['GridXYZ']) : '', block: timed ? extent(timed['BlockXYZ']) : '',
      timed, counted, findings: []
    };
    if (counted) Object.assign(row, {flops: counted.flops, dram: counted.dram_bytes_per_second, roof: counted.of_roof, bound: counted.bound_by, occupancy: counted.occupancy});
    return row;
  }

  // Lines of the roofline that differ in their arguments alone belong to one line of the times: their rates are not one rate.
  function joined(report, lines) {
    const counted = new Map();
    for (const line of lines) {
      const key = keyOf(line.name, extentOf(line.grid), extentOf(line.block));
      counted.set(key, [...(counted.get(key) || []), line]);
    }
    return report.rows.map((timed) => {
      const of = counted.get(keyOf(timed['Name'], extent(timed['GridXYZ']), extent(timed['BlockXYZ']))) || [];
      const row = rowOf(timed, of.length === 1 ? of[0] : undefined);
      row.apart = of.length > 1 ? of.length : 0;
      return row;
    });
  }

  const gainOf = (one) => ({low: 1e6 * one.potential_gain_ms.low, high: 1e6 * one.potential_gain_ms.high});

  // What the findings of a line would save. They share one cap: the greatest stands for all.
  function give(row, findings) {
    row.findings = findings;
    const {low, high} = findings.map(gainOf).reduce((a, b) => (b.high > a.high ? b : a), {high: 0});
    if (high > 0) Object.assign(row, {least: low, gain: high});
  }

  // Findings name kernels. Of one grid and block among several the roofline knows what its roof would save, which is at most all that they say.
  function giveToRoof(row, kernel) {
    const apart = known(row.roof) ? row.total * Math.max(0, 1 - row.roof) : null;
    if (kernel && known(kernel.gain) && known(apart)) Object.assign(row, {least: 0, gain: Math.min(apart, kernel.gain), isToRoof: true});
  }

  function addFindings(of, findings) {
    const kernels = new Map(of.kernels.map((row) => [row.name, row]));
    for (const row of of.kernels) give(row, findings.filter((one) => one.where.kernel === row.name));
    for (const row of of.signatures) {
      const kernel = kernels.get(row.name);
      row.isWholeKernel = kernel !== undefined && kernel.launches === row.launches;
      if (row.isWholeKernel) give(row, kernel.findings);
      else giveToRoof(row, kernel);
    }
    for (const row of of.ranges) give(row, findings.filter((one) => one.where.range === row.name));
  }

  const between = (low, high) => {
    const from = time(low), to = time(high);
    if (from === to) return to;
    return low === 0 ? 'up to ' + to : from + ' to ' + to;
  };
  // In words, of a finding and of a line.
  const findingGain = (one) => (gainOf(one).high > 0 ? between(gainOf(one).low, gainOf(one).high) : 'no time to win by itself');
  const gainText = (row) => (known(row.gain) ? between(row.least, row.gain) : '');

  // Launches of graphs that were not timed have the times of others.
  function inferredOf(row) {
    const inferred = row.timed ? row.timed['Inferred (%)'] || 0 : 100 * row.counted.time_inferred_ns / row.counted.time_ns;
    return {inferred, wrong: row.timed ? row.timed['Total Error (ns)'] : row.counted.time_error_ns};
  }
  function totalText(value, row) {
    const {inferred, wrong} = inferredOf(row);
    if (!(inferred > 0) || (known(wrong) && wrong < 0.01 * value)) return time(value);
    return known(wrong) ? time(value) + ' \u00b1' + Math.max(1, Math.round(100 * wrong / value)) + ' %' : '~ ' + time(value);
  }
  function timeSource(row) {
    const {inferred, wrong} = inferredOf(row);
    if (!(inferred > 0)) return 'traced: all launches';
    return share(inferred / 100) + ' of it is from launches of graphs that were not timed and have the times of others' + (known(wrong) ? ', standard error of the total ' + time(wrong) : ', error not known');
  }

  // An error above 20 % stands beside its figure, as in the tables of the command.
  const unsureRate = (value, unit, wrong) => words.rate(value, unit) + (known(value) && known(wrong) && wrong > 0.2 * value ? ' \u00b1' + Math.round(100 * wrong / value) + ' %' : '');
  const flopsText = (value, l) => (l.flops_are_upper_limit && known(value) ? '\u2264 ' + words.rate(value, 'FLOP/s') : unsureRate(value, 'FLOP/s', l.flops_error));
  const errorText = (wrong, value) => (known(wrong) && value > 0 ? ', standard error ' + (100 * wrong / value).toFixed(1) + ' %' : '');
  const limitText = (l) => ', an upper limit: lanes of warps that were off computed nothing; between ' + words.rate(l.flops_low, 'FLOP/s') + ' and ' + words.rate(l.flops_high, 'FLOP/s');
  const knownText = (part) => (known(part) && part < 0.995 ? ', known for ' + share(part) + ' of its time' : '');

  // Where a rate is from and how sure it is.
  const rates = {
    flops: (l) => l.flop_source + (l.flops_are_upper_limit ? limitText(l) : errorText(l.flops_error, l.flops)) + knownText(l.flop_known_share),
    dram: (l) => l.sources.dram + errorText(l.dram_bytes_per_second_error, l.dram_bytes_per_second) + knownText(l.known_shares.dram),
    l2: (l) => l.sources.l2 + errorText(l.l2_bytes_per_second_error, l.l2_bytes_per_second) + knownText(l.known_shares.l2),
    occupancy: (l) => l.sources.occupancy + errorText(l.occupancy_error, l.occupancy) + knownText(l.known_shares.occupancy),
    tensor: (l) => l.sources.tensor + errorText(l.tensor_active_error, l.tensor_active) + knownText(l.known_shares.tensor),
    clock: (l) => l.sources.sm_clock + errorText(l.sm_clock_hz_error, l.sm_clock_hz) + knownText(l.known_shares.sm_clock)
  };
  function rateSource(field, line) {
    const shared = line.shared ? '; other launches ran beside it for most of its time' : '';
    const text = rates[field](line).replace(/^, /, '');
    return text === '' || text === 'not measured' ? 'not measured' : text + (line.samples > 0 ? '; ' + words.number(line.samples, 'launch') + ' read' : '') + shared;
  }

  function gainSource(row, by) {
    const place = by === 'ranges' ? ', most of it in this range' : '';
    if (row.findings.length > 0) return row.findings.map((one) => one.rule + ': ' + one.what + place).join('; ');
    if (row.isToRoof) return 'what its roof would save, as gpuprof roofline has it, up to what gpuprof analyze finds in all launches of the kernel';
    if (by === 'signatures' && !row.isWholeKernel) return 'the findings of gpuprof analyze are of all launches of a kernel, not of one grid and block';
    return 'no finding of gpuprof analyze names this ' + {kernels: 'kernel', signatures: 'kernel', ranges: 'range', graphs: 'graph'}[by];
  }

  // What a figure is and how sure, for where one points at it.
  function sourceOf(field, row, by) {
    if (field === 'gain') return gainSource(row, by);
    if (['share', 'total', 'launches', 'median', 'inside'].includes(field)) return field === 'total' ? timeSource(row) : row.timed || field === 'inside' ? 'traced: all launches' : 'traced';
    if (row.apart > 0) return 'gpuprof roofline --by signature has ' + row.apart + ' lines of it, which differ in their arguments';
    if (!row.counted) return roofline.leftOut(row.grid === '' ? 'kernels' : 'signatures') || 'not counted: gpuprof profile --metrics auto';
    if (rates[field]) return rateSource(field, row.counted);
    const shares = Object.entries(row.counted.roof_shares || {}).filter(([, part]) => part > 0).map(([roof, part]) => roof + ' ' + share(part));
    return 'from its rates and the measured peaks' + (shares.length > 0 ? ': ' + shares.join(', ') : '');
  }

  return {rowOf, totalText, flopsText, unsureRate, joined, addFindings, findingGain, gainText, sourceOf, rateSource, keyOf, extentOf};
})();
