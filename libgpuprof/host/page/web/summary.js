// What the program is bound by, where the time went, what to do about it.

const summary = (() => {
  const {element, byId, time, share} = words;

  function showFacts(facts) {
    byId('capture').textContent = facts.capture;
    byId('version').textContent = 'Made by gpuprof ' + facts.version + '.';
    for (const line of facts.lost) byId('lost').append(element('p', {class: 'lost'}, 'Lost: ' + line));
    for (const line of facts.overview) byId('overview').append(element('p', {class: 'facts'}, line));
  }

  function gpusOf(lines) {
    const gpus = new Map();
    for (const line of lines) {
      if (!gpus.has(line.device)) gpus.set(line.device, []);
      gpus.get(line.device).push(line);
    }
    return gpus;
  }

  const partOf = (line) => ({bucket: line.bucket, size: line.share, text: theme.bucketName(line.bucket) + ' ' + share(line.share) + ' (' + time(line.ns) + ')'});

  // What the launching thread was seen to do in idle time.
  function causeOf(cause) {
    const where = cause.where ? ' at ' + cause.where : '';
    const holder = cause.held_by ? ', held by ' + cause.held_by : '';
    return {bucket: cause.bucket, text: theme.bucketName(cause.bucket) + ', ' + time(cause.ns) + ': ' + cause.cause + where + holder};
  }

  // The time of kernels by what they do.
  function showKinds(kinds) {
    const parts = kinds.filter((one) => one.share >= 0.001).map((one) => {
      const bytes = one.dram_bytes === null ? '' : ', ' + words.rate(one.dram_bytes, 'B') + ' of DRAM';
      const roof = one.of_roof === null ? '' : ', ' + share(one.of_roof) + ' of the roof';
      const bucket = 'kind_' + one.kind;
      return {bucket, size: one.share, text: theme.bucketName(bucket) + ' ' + share(one.share) + ' (' + time(one.ns) + bytes + roof + ')'};
    });
    if (parts.length > 0) byId('ledger').append(element('div', {class: 'ledger-row'}, element('span', {}, 'kernels'), ledger.bar(parts)), ledger.legend(parts));
  }

  function showLedger(lines, causes) {
    for (const [device, of] of gpusOf(lines)) {
      const parts = of.map(partOf);
      byId('ledger').append(element('div', {class: 'ledger-row'}, element('span', {}, 'GPU ' + device), ledger.bar(parts)), ledger.legend(parts));
    }
    const shown = causes.filter((cause) => cause.share >= 0.1).slice(0, 8).map(causeOf);
    if (shown.length > 0) byId('ledger').append(element('p', {}, 'While the GPU was idle, the launching thread was seen to do this:'), ledger.legend(shown));
  }

  function showPath(path) {
    if (!path) return;
    const {median, slowest} = path;
    const row = (label, of) => {
      const parts = ['kernels', 'copies', 'cpu_work', 'calls', 'start', 'unexplained'].map((kind) => [kind, of[kind + '_ns']]).filter(([, ns]) => ns > 0)
        .map(([kind, ns]) => partOf({bucket: 'path_' + kind, share: ns / of.length_ns, ns}));
      byId('path').append(element('div', {class: 'ledger-row'}, element('span', {}, label), ledger.bar(parts)), ledger.legend(parts));
    };
    row('median', median);
    row('slowest', slowest);
    byId('path').append(element('p', {class: 'note'}, 'The critical path of the median step "' + path.step + '" (' + time(median.length_ns) + '), and ' + (slowest.steps === 1 ? 'of the slowest (' : 'the mean of the ' + words.count(slowest.steps) + ' slowest (') + time(slowest.length_ns) + '), of ' +
      words.count(path.steps) + ' that were replayed.'));
    byId('path').hidden = false;
  }

  function placeOf(where) {
    const place = element('span', {class: 'where'});
    if (where.kernel) {
      const link = element('a', {href: '#kernels'}, words.shortened(where.kernel));
      link.addEventListener('click', () => kernels.show(where.kernel));
      place.append(link);
    }
    if (where.call) place.append((place.textContent ? ', ' : '') + words.callName(where.call));
    if (where.range) place.append((place.textContent ? ', in range ' : 'in range ') + where.range);
    if (where.line) place.append((place.textContent ? ', line ' : 'line ') + where.line);
    if (where.module) place.append((place.textContent ? ', module ' : 'module ') + where.module);
    return place;
  }

  const gainOf = (one, whole) => kernelRows.findingGain(one) + (one.of_window.high > 0 ? ', at most ' + share(one.of_window.high) + ' of the ' + whole : '');

  const prefixes = {'': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12};
  const roofs = {'of the roof': 'measured roof', DRAM: 'DRAM bandwidth', L2: 'L2 bandwidth'};
  const evidenceOf = (one) => one.evidence.map((fact) => textOf(fact) + ' (' + fact.source + ')').join('; ');
  function textOf(fact) {
    const whole = Math.round(100 * fact.value) + ' % ';
    if (fact.unit === '' && roofs[fact.name] !== undefined) return 'reaches ' + whole + 'of the ' + roofs[fact.name];
    return fact.name === 'below the maximum clock' ? whole + fact.name : fact.name + ' ' + valueOf(fact);
  }
  function valueOf(fact) {
    if (fact.unit === 'ns') return time(fact.value);
    const [, prefix, unit] = /^([kMGT]?)([A-Z]\S*\/s)$/.exec(fact.unit) || [];
    if (unit) return words.rate(fact.value * prefixes[prefix], unit);
    return (Number.isInteger(fact.value) ? words.count(fact.value) : words.figure(fact.value)) + (fact.unit ? ' ' + fact.unit : '');
  }

  function itemOf(one, whole) {
    return element('li', {'data-rule': one.rule}, element('span', {class: 'gain'}, gainOf(one, whole)),
      (one.condition ? ' if ' + one.condition : '') + ': ' + one.what + '. ', placeOf(one.where),
      element('div', {}, one.to_do),
      element('details', {}, element('summary', {}, one.rule + ': evidence and arithmetic'), element('p', {}, evidenceOf(one)),
        element('p', {}, one.arithmetic)));
  }

  function showFindings(advice) {
    const place = byId('findings');
    const whole = advice.part ? (advice.part.step ? 'steps' : 'steady part') : 'run';
    place.append(element('p', {}, advice.findings.length === 0 ? 'Nothing was found that would save ' + share(advice.min_gain) + ' of the ' + whole + '.' :
      'These findings can save up to ' + share(1 - advice.best_case_share) + ' of the ' + whole + '.'));
    const list = element('ol', {class: 'findings'});
    list.append(...advice.findings.map((one) => itemOf(one, whole)));
    place.append(list);
    if (advice.not_looked_at && advice.not_looked_at.length > 0) {
      const lines = advice.not_looked_at.map((one) => element('li', {}, one.rule + ': needs ' + (one.needs || one.how || 'more data')));
      place.append(element('details', {class: 'note'}, element('summary', {}, advice.not_looked_at.length + ' rules were not looked at'),
        element('ul', {}, ...lines)));
    }
  }

  function show(facts, advice) {
    showFacts(facts);
    if (advice.missing) {
      if (advice.part) byId('part').textContent = 'This summary is of ' + advice.part.line + '. The parts below are of the whole run.';
    byId('part').hidden = !advice.part;
    byId('holds').textContent = advice.missing;
      return;
    }
    if (advice.part) byId('part').textContent = 'This summary is of ' + advice.part.line + '. The parts below are of the whole run.';
    byId('part').hidden = !advice.part;
    byId('holds').textContent = advice.holds.sentence + (advice.holds.steps ? ' ' + advice.holds.steps : '') + (advice.roof ? ' ' + advice.roof.sentence : '');
    showLedger(advice.ledger, advice.idle_causes);
    showKinds(advice.kinds);
    showPath(advice.critical_path);
    showFindings(advice);
  }

  return {show};
})();
