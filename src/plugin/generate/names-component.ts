import type { ModelWritten } from './component-prompt.ts'

/**
 * Whether a message names the component, rather than just using a word that is also its name: a skill called `pdf` is not named
 * by every message about a PDF.
 */
export function namesComponent(message: string, { type, component }: ModelWritten): boolean {
  if (component.name.trim() === '') return false
  const own = literal(component.name)
  const noun = type === 'skill' ? 'skill' : '(?:sub)?agent'
  const forms = [
    // Names of several parts are nobody's ordinary words when they are written with their signs.
    ...(/[-_:/.]/.test(component.name) ? [own] : []),
    ...(component.cli_name === component.name ? [] : [literal(component.cli_name)]),
    `/${own}`,
    `@(?:agent-)?${own}`,
    `${own}['"\`”’]?\\s+${noun}`,
    `${noun}\\s+(?:called\\s+|named\\s+)?['"\`“‘]?${own}`,
    `\`${own}\``,
  ]
  return new RegExp(`(?<![\\p{L}\\p{N}_-])(?:${forms.join('|')})(?![\\p{L}\\p{N}_-])`, 'iu').test(message)
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

/** Whether a component a model speaks of is this one: with or without its plugin, in any spelling of the words. */
export function isNameOf(written: string, { component }: ModelWritten): boolean {
  const wanted = [component.name, component.cli_name, `${component.plugin}:${component.name}`]
  return wanted.map(folded).includes(folded(written))
}

function folded(name: string): string {
  return name
    .trim()
    .replace(/^[/@]/, '')
    .toLowerCase()
    .replaceAll(/[\s_/:-]+/g, '-')
}
