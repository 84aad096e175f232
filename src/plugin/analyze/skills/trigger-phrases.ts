/**
 * Phrases that should make a skill fire, in the order of its description: what is quoted after words such as "asks to", and any
 * other quoted text that could be said.
 */
export function triggerPhrases(description: string): readonly string[] {
  const text = description.replaceAll(/\s+/g, ' ')
  const found = new Set<string>()
  let end = 0
  let isCued = false
  for (const match of text.matchAll(quotedText)) {
    const phrase = (match[1] ?? match[2] ?? match[3] ?? '').trim()
    const before = text.slice(end, match.index)
    isCued =
      cue.test(before.slice(-cueCharacters)) ||
      (isCued && before.length <= cueCharacters && betweenQuotes.test(before))
    end = match.index + match[0].length
    if (phrase !== '' && (isCued || couldBeSaid(phrase))) found.add(phrase)
  }
  return [...found]
}

/** A single quote that stands beside a letter is an apostrophe. */
const quotedText = /"([^"]{1,200})"|“([^”]{1,200})”|(?<![\p{L}\p{N}])'([^']{1,200})'(?![\p{L}\p{N}])/gu
const cue =
  /\b(?:(?:asks?|needs?|wants?) to|mentions?|says?)[\s:,(]*(?:something like|e\.g\.|things like)?[\s:,(]*$/i
const cueCharacters = 60
const betweenQuotes = /^[\s,;/]*(?:or|and)?[\s,;/]*$/i

function couldBeSaid(phrase: string): boolean {
  return phrase.length >= 3 && phrase.length <= 50 && /^\p{L}/u.test(phrase)
}
