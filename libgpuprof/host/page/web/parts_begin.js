// The parts of the page that show one capture, up to parts_end.js: made anew for each that is chosen, with its
// data and with listeners that end with it (`signal`, an AbortSignal).

function partsOf({data, theme, signal}) {
