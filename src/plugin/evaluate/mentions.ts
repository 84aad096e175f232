import type { ComponentType } from '../contract.ts'
import type { PluginTranscript } from '../execute/contract.ts'
import type { KnownComponent } from './detection/known-components.ts'
import type { OwnWords } from './own-words.ts'

/**
 * Whether the agent speaks of a component: by its full name, or by its own name beside the word for what it is. A skill called
 * `test` is not meant by every sentence about tests. What we put into the agent's mouth does not count.
 */
export function mentions(
  transcript: PluginTranscript,
  component: KnownComponent,
  ownWords: OwnWords,
): boolean {
  const wanted = phrases(component)
  return transcript.events.some((event) => {
    if (event.type !== 'assistant') return false
    const { content } = event.edit.message
    if (ownWords.texts.has(content.trim())) return false
    const text = content.toLowerCase()
    return wanted.some((phrase) => text.includes(phrase))
  })
}

function phrases({ type, name, cli_name }: KnownComponent): readonly string[] {
  const own = name.toLowerCase()
  const quoted = [own, `"${own}"`, `'${own}'`, `\`${own}\``]
  const word = nouns[type]
  return [
    cli_name.toLowerCase(),
    ...quoted.flatMap((written) => [`${word} ${written}`, `${written} ${word}`]),
  ]
}

const nouns = {
  skill: 'skill',
  agent: 'agent',
  command: 'command',
  hook: 'hook',
  mcp_server: 'server',
} as const satisfies Readonly<Record<ComponentType, string>>
