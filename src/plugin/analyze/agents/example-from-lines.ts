import type { AgentExample } from '../contract.ts'

type Part = keyof AgentExample

const partOf: Readonly<Record<string, Part>> = {
  context: 'context',
  user: 'user_message',
  human: 'user_message',
  assistant: 'expected_response',
  commentary: 'commentary',
}

/** Line by line: a label begins a part, which goes on until the next label. For blocks that are not written as usual. */
export function exampleFromLines(block: string): AgentExample {
  const parts = new Map<Part, string[]>()
  let part: Part | null = null
  for (const line of block.split('\n')) {
    const { label, rest } = readLine(line)
    if (label !== null) {
      part = label
      // Only the first turn of each: an example shows when to begin.
      if (parts.has(part)) part = null
      else parts.set(part, [])
    }
    if (part !== null) parts.get(part)?.push(rest)
  }
  const textOf = (wanted: Part): string => unquoted((parts.get(wanted) ?? []).join(' '))
  return {
    context: textOf('context'),
    user_message: textOf('user_message'),
    expected_response: textOf('expected_response'),
    commentary: textOf('commentary'),
  }
}

function readLine(line: string): { readonly label: Part | null; readonly rest: string } {
  const named = /^\s*[*_]{0,2}(context|user|human|assistant|commentary)[*_]{0,2}\s*:[*_]{0,2}(.*)$/i.exec(
    line,
  )
  const tagged = named ?? /^\s*<(commentary|user|assistant|context)>(.*)$/i.exec(line)
  const label = partOf[(tagged?.[1] ?? '').toLowerCase()] ?? null
  return { label, rest: (tagged?.[2] ?? line).replaceAll(/<\/?(?:commentary|user|assistant|context)>/gi, '') }
}

function unquoted(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  const inside = /^"(.*)"$|^'(.*)'$|^“(.*)”$/.exec(plain)
  return (inside?.[1] ?? inside?.[2] ?? inside?.[3] ?? plain).trim()
}
