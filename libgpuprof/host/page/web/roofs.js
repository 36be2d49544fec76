// The roofs of this GPU as lines of a chart: slopes of memories, ceilings of the precisions in use; measured solid, in theory dashed.

const roofs = (() => {
  const {rate} = words;
  const kinds = [['burst', 'solid', 'measured'], ['theory', 'dashed', 'in theory']];

  const precisionOf = (name) => name.replace('tensor_', 'tensor ').toUpperCase().replace('TENSOR', 'tensor');

  // A ceiling is worth drawing where a point may stand below it: its precision does work.
  function usedBy(known, lines) {
    const used = new Set();
    for (const line of lines)
      for (const [name, flops] of Object.entries(line.flops_by_precision || {})) if (flops > 0) used.add(name);
    if (used.size === 0) used.add('fp32');
    return Object.keys(known).filter((name) => used.has(name));
  }

  const slopeOf = {dram: (known) => known.dram_read || known.dram_copy, l2: (known) => known.l2_read};

  // {name, kind, type, color, points, figure}: from left to right of the chart.
  function linesOf(known, lines, memories, left, right) {
    const made = [];
    const slopes = memories.map((memory) => [memory, slopeOf[memory](known)]).filter(([, roof]) => roof);
    const ceilings = usedBy(known, lines).map((name) => [name, known[name]]);
    for (const [kind, type, says] of kinds) {
      const highest = Math.max(0, ...ceilings.map(([, roof]) => roof[kind] || 0));
      const steepest = Math.max(0, ...slopes.map(([, roof]) => roof[kind] || 0));
      slopes.forEach(([memory, roof], at) => {
        if (!roof[kind] || highest === 0) return;
        const end = Math.min(right, highest / roof[kind]);
        made.push({name: memory.toUpperCase(), says, kind, type, color: theme.series[(7 + at) % theme.series.length], figure: rate(roof[kind], 'B/s'),
          points: [[left, left * roof[kind]], [end, end * roof[kind]]]});
      });
      ceilings.forEach(([name, roof], at) => {
        if (!roof[kind] || steepest === 0) return;
        const begin = Math.max(left, roof[kind] / steepest);
        if (begin < right)
          made.push({name: precisionOf(name), says, kind, type, color: theme.series[at % 7], figure: rate(roof[kind], 'FLOP/s'), points: [[begin, roof[kind]], [right, roof[kind]]]});
      });
    }
    return made;
  }

  function seriesOf(lines) {
    return lines.map((line) => ({
      type: 'line', symbol: 'none', silent: true, animation: false, name: line.name + ' ' + line.says, z: 1,
      lineStyle: {color: line.color, width: line.kind === 'burst' ? 2 : 1.5, type: line.type}, data: line.points
    }));
  }

  // In words, below the chart: each roof once, measured and in theory.
  function legendOf(lines) {
    const byName = new Map();
    for (const line of lines) byName.set(line.name, [...(byName.get(line.name) || []), line]);
    return [...byName].map(([name, of]) => {
      const mark = words.element('i', {class: 'stroke'});
      mark.style.background = of[0].color;
      return words.element('li', {}, mark, name + ': ' + of.map((line) => line.figure + ' ' + line.says).join(', '));
    });
  }

  return {linesOf, seriesOf, legendOf};
})();
