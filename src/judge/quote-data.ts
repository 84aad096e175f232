export interface DataBlock {
  readonly title: string
  readonly text: string
}

/**
 * Quotes foreign text so it cannot pose as instructions: each block is between lines with a name that occurs in none of the texts, and
 * every line begins with a bar. The name is a counter, not random, so the same trial always gives the same prompt.
 */
export function quoteData(blocks: readonly DataBlock[]): { readonly fence: string; readonly text: string } {
  const fence = unusedFence(blocks)
  const quoted = blocks.map(({ title, text }) => `${title}:\n<<<${fence}\n${barred(text)}\n${fence}>>>`)
  return { fence, text: quoted.join('\n\n') }
}

function unusedFence(blocks: readonly DataBlock[]): string {
  const used = new Set<string>()
  for (const { text } of blocks)
    for (const [, number = ''] of text.matchAll(/data-(\d+)-block/gi)) used.add(number)
  let number = 1
  while (used.has(String(number))) number += 1
  return `data-${number}-block`
}

/** Every kind of line break counts, so every visible line has a bar. */
function barred(text: string): string {
  return text
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => `| ${line}`)
    .join('\n')
}
