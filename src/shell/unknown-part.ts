/** Marks a part of a text that is only known when the command runs. No word of a real command can contain this character. */
export const unknownPart = '\0'

/** Encloses the number of a search: the text means every path that the search would find. */
const searchMark = '\u0001'

export function isKnown(text: string): boolean {
  return !text.includes(unknownPart) && !text.includes(searchMark)
}

export function searchResult(index: number): string {
  return `${searchMark}${index}${searchMark}`
}

/** The number of the search whose results the text begins with; null when it is not one. */
export function searchIndex(text: string): number | null {
  const found = /^(?:\.\/)?\u0001(\d+)\u0001/.exec(text)
  return found === null ? null : Number(found[1])
}

/** The result of an operation on a text; unknown when the text is. */
export function known(text: string, operate: (text: string) => string): string {
  return isKnown(text) ? operate(text) : unknownPart
}

/** The text with everything unknown taken as empty, as an unset variable would be. */
export function withoutUnknownParts(text: string): string {
  return text.replaceAll(unknownPart, '').replaceAll(/\u0001\d*\u0001?/g, '')
}

/** Stands for the name that `mktemp` makes up when it is given none. */
export const freshName = 'tmp.XXXXXXXXXX'
