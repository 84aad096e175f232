/**
 * An image's name as the two parameters of a pull. Without a tag the engine would pull every one there is. A colon in front of the
 * last slash belongs to the port of a registry.
 */
export function imageReference(image: string): { readonly fromImage: string; readonly tag: string } {
  const digest = image.indexOf('@')
  if (digest !== -1) return { fromImage: image.slice(0, digest), tag: image.slice(digest + 1) }
  const colon = image.lastIndexOf(':')
  if (colon > image.lastIndexOf('/')) return { fromImage: image.slice(0, colon), tag: image.slice(colon + 1) }
  return { fromImage: image, tag: 'latest' }
}
