// Wheel, drag, two fingers, keys: what they do to the view.

const timelineInput = (() => {
  const {state, nsAt, look, zoom, move} = timelineView;
  const near = 4;  // pixels: less is a tap

  // act: {hover(x, y), tap(x, y), select(begin, end, isDone), isSelecting(), keys: {key: function}}
  function pointers(canvas, view, act) {
    const down = new Map();
    let drag = null, pinch = null;
    const distance = () => {
      const [a, b] = [...down.values()];
      return {apart: Math.max(10, Math.abs(a.x - b.x)), middle: (a.x + b.x) / 2};
    };
    // The first button alone: others have menus of the browser.
    function begin(event) {
      if (event.button !== 0) return;
      down.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
      canvas.setPointerCapture(event.pointerId);
      if (down.size === 2) {
        const {apart, middle} = distance();
        pinch = {apart, span: state.to - state.from, at: nsAt(middle)};
        drag = null;
      } else if (down.size === 1) {
        drag = {x: event.offsetX, y: event.clientY, from: state.from, to: state.to, top: view.scrollTop, selects: event.shiftKey || act.isSelecting(), moved: false};
      }
    }
    function moveOn(event) {
      if (event.buttons === 0 && down.has(event.pointerId)) end(event, true);  // it was released where the page does not hear of it
      if (!down.has(event.pointerId)) return act.hover(event.offsetX, event.offsetY);
      down.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
      if (pinch !== null && down.size === 2) {
        const {apart, middle} = distance(), span = pinch.span * pinch.apart / apart;
        const from = pinch.at - (middle - state.labels) / state.width * span;
        return look(from, from + span);
      }
      if (drag === null) return undefined;
      if (Math.abs(event.offsetX - drag.x) + Math.abs(event.clientY - drag.y) >= near) drag.moved = true;
      if (!drag.moved) return undefined;
      act.hover(-1, -1);
      if (drag.selects) return act.select(nsAt(drag.x), nsAt(event.offsetX), false);
      const shift = (drag.x - event.offsetX) / state.width * (drag.to - drag.from);
      if (event.pointerType === 'mouse') view.scrollTop = drag.top + drag.y - event.clientY;
      return look(drag.from + shift, drag.to + shift);
    }
    function end(event, isLost) {
      down.delete(event.pointerId);
      if (drag !== null && !isLost) {
        if (!drag.moved) act.tap(event.offsetX, event.offsetY);
        else if (drag.selects) act.select(nsAt(drag.x), nsAt(event.offsetX), true);
      }
      drag = null;
      if (down.size < 2) pinch = null;
    }
    canvas.addEventListener('pointerdown', begin);
    canvas.addEventListener('pointermove', moveOn);
    canvas.addEventListener('pointerup', (event) => end(event, false));
    canvas.addEventListener('pointercancel', (event) => end(event, true));
    canvas.addEventListener('pointerleave', () => act.hover(-1, -1));
  }

  function wheel(canvas) {
    canvas.addEventListener('wheel', (event) => {
      if (event.offsetX < state.labels && !event.ctrlKey) return;  // over the names it scrolls the rows
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 30 : 1;  // lines of Firefox
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(unit * (event.deltaX || event.deltaY) / 1000);
      else zoom(Math.exp(unit * event.deltaY / 500), event.offsetX);
    }, {passive: false});
  }

  function keys(view, act) {
    const known = {w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => move(-0.2), d: () => move(0.2), ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
      '+': () => zoom(0.7), '-': () => zoom(1 / 0.7), ...act.keys};
    view.addEventListener('keydown', (event) => {
      const does = event.target === view ? known[event.key.length === 1 ? event.key.toLowerCase() : event.key] : undefined;
      if (does === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      does(event);
    });
  }

  return {
    listen: (canvas, view, act) => {
      pointers(canvas, view, act);
      wheel(canvas);
      keys(view, act);
    }
  };
})();
