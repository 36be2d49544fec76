// Where time went, as a bar of parts and as a legend, in the colors of the time ledger.

const ledger = (() => {
  const {element} = words;

  // parts: [{bucket, size, text}]
  function bar(parts) {
    const made = element('div', {class: 'ledger-bar', role: 'img', 'aria-label': parts.map(({text}) => text).join(', ')});
    for (const {bucket, size, text} of parts) {
      const part = element('span', {title: text});
      part.style.flex = size + ' 0 0';
      part.style.background = theme.bucketColor(bucket);
      made.append(part);
    }
    return made;
  }

  // Lines of a list: [{bucket, text}]
  function lines(parts) {
    return parts.map(({bucket, text}) => {
      const mark = element('i');
      mark.style.background = theme.bucketColor(bucket);
      return element('li', {'data-bucket': bucket}, mark, text);
    });
  }
  const legend = (parts) => element('ul', {class: 'legend'}, ...lines(parts));

  return {bar, lines, legend};
})();
