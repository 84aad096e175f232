/** What stands between white space. */
export function words(text) {
  return text.split(/\s+/).filter((word) => word !== '')
}
