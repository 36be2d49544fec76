// Light or dark: as the system says, until the button is used. Charts take their colors from here.

const theme = (() => {
  const listeners = [];
  const root = document.documentElement;
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  let chosen = null, onPaper = false;
  const isDark = () => !onPaper && (chosen === null ? system.matches : chosen);

  function apply() {
    root.dataset.theme = isDark() ? 'dark' : 'light';
    words.byId('theme').textContent = isDark() ? 'Light' : 'Dark';
    for (const listener of listeners) listener();
  }
  words.byId('theme').addEventListener('click', () => {
    chosen = !isDark();
    apply();
  });
  system.addEventListener('change', apply);
  apply();

  // Paper is light.
  function forPaper(is) {
    if (onPaper === is) return;
    onPaper = is;
    apply();
  }

  const color = (name) => getComputedStyle(root).getPropertyValue('--' + name).trim();
  // Told apart also by people who do not tell red from green: Okabe and Ito's, and two grays.
  const buckets = {
    compute: '#009e73', compute_and_communication: '#56b4e9', communication: '#0072b2', transfer: '#8fc7ee', back_to_back: '#c9cfd6',
    dependency: '#cc79a7', synchronization: '#d55e00', allocation: '#b23b3b', module_load: '#9467bd', graph_build: '#c5a3e0',
    launch_bound: '#e69f00', data_loading: '#f0e442', between_steps: '#d8b26e', cpu_work: '#b98a4e', host_unknown: '#a9a294',
    start_up: '#8b97a5', nothing_to_do: '#aeb6c0', profiler: '#444c56',
    path_kernels: '#009e73', path_copies: '#8fc7ee', path_cpu_work: '#b98a4e', path_calls: '#d55e00', path_start: '#e69f00', path_unexplained: '#a9a294',
    kind_product: '#0072b2', kind_convolution: '#56b4e9', kind_attention: '#009e73', kind_elementwise: '#e69f00', kind_arithmetic: '#b98a4e', kind_reduction: '#d8b26e',
    kind_moves: '#d55e00', kind_random: '#c5a3e0', kind_sort: '#9467bd', kind_optimizer: '#cc79a7', kind_communication: '#8b97a5', kind_factorization: '#4c9f38', kind_fft: '#f0e442', kind_tuning: '#b23b3b', kind_other: '#c9cfd6'
  };
  const names = {
    compute: 'compute', compute_and_communication: 'compute and communication', communication: 'communication alone',
    transfer: 'copy or fill alone', back_to_back: 'idle: between queued work', dependency: 'idle: dependency',
    synchronization: 'idle: synchronization', allocation: 'idle: allocation', module_load: 'idle: module load',
    graph_build: 'idle: graph build', launch_bound: 'idle: launch-bound', data_loading: 'idle: data loading',
    between_steps: 'idle: between steps', cpu_work: 'idle: CPU work', host_unknown: 'idle: host', start_up: 'idle: start-up',
    nothing_to_do: 'idle: after the last work', profiler: 'this profiler',
    path_kernels: 'kernels', path_copies: 'copies', path_cpu_work: 'CPU work', path_calls: 'calls', path_start: 'starting work on the GPU', path_unexplained: 'unexplained delays',
    kind_product: 'products', kind_convolution: 'convolutions', kind_attention: 'attention', kind_elementwise: 'elementwise', kind_arithmetic: 'arithmetic', kind_reduction: 'reductions',
    kind_moves: 'moves only', kind_random: 'random numbers', kind_sort: 'sort and select', kind_optimizer: 'optimizer', kind_communication: 'communication', kind_factorization: 'factorizations', kind_fft: 'FFT', kind_tuning: 'library tuning', kind_other: 'other'
  };
  const series = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#9467bd', '#b98a4e', '#4c9f38', '#7f8fa3'];

  // What all charts share: {text, line: colors; common, axis, tooltip: parts of the options of ECharts}.
  function chart() {
    const text = color('text'), line = color('line');
    return {
      text, line, common: {animation: false, backgroundColor: 'transparent'},
      axis: {axisLabel: {color: text, hideOverlap: true}, axisLine: {lineStyle: {color: text}}, splitLine: {lineStyle: {color: line}}, nameTextStyle: {color: text}},
      tooltip: {confine: true, backgroundColor: color('panel'), borderColor: line, textStyle: {color: text, fontSize: 12}}
    };
  }

  // The wheel without Ctrl stays the page's: ECharts takes it wherever a chart can be zoomed, whatever its options say.
  function chartIn(place, renderer = 'svg') {
    place.addEventListener('wheel', (event) => { if (!event.ctrlKey) event.stopPropagation(); }, {capture: true, passive: true});
    return echarts.init(place, null, {renderer});
  }

  // Of a name: the same wherever it stands.
  function hueOf(text) {
    let sum = 0;
    for (let i = 0; i < text.length; ++i) sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
    return series[sum % series.length];
  }

  return {
    color, series, chart, chartIn, hueOf, forPaper,
    // Until `signal`, an AbortSignal, is aborted; without one, always.
    onChange(listener, signal) {
      listeners.push(listener);
      if (signal) signal.addEventListener('abort', () => listeners.splice(listeners.indexOf(listener), 1));
    },
    // Black or white, whichever is told better from this color.
    textOn(color) {
      const [red, green, blue] = [1, 3, 5].map((at) => Math.pow(parseInt(color.slice(at, at + 2), 16) / 255, 2.2));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.18 ? '#fff' : '#000';
    },
    // From nothing to much, for a heat map; the brightness alone tells, too.
    heat: () => (isDark() ? ['#1d232c', '#23527f', '#6cb2ff', '#fff3b0'] : ['#eef4fb', '#7fb2e6', '#0b62c4', '#3a0f5e']),
    bucketColor: (bucket) => buckets[bucket] || '#888888',
    bucketName: (bucket) => names[bucket] || bucket
  };
})();
