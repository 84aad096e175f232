import { parseSource } from '../../../io/yaml-source.ts'

/**
 * What Claude Code reads although YAML forbids it: of a key that stands there twice the last one, of a value with an unknown tag the
 * value, and keys behind a tab.
 */
export function tidyFrontmatter(yaml: string): string {
  const lines = yaml.split('\n').map((line) => line.replace(/^\t+/, ''))
  return withoutRepeats(lines)
    .map((line) => line.replace(/^([A-Za-z_][\w-]*:[ \t]+)![\w!-]*(?:[ \t]+|$)/, '$1'))
    .join('\n')
}

/**
 * What Claude Code tries then: a value that stands on the line of its key is taken as it is, as if it were quoted.
 * `description: Use when: asked` is the common case. What it cannot read so either it does not read.
 */
export function quoteFrontmatter(yaml: string): string {
  return yaml.split('\n').map(quoted).join('\n')
}

/** Lines without a key belong to the one above. */
function withoutRepeats(lines: readonly string[]): readonly string[] {
  const keys = lines.map((line) => /^([A-Za-z_][\w-]*):(?:[ \t]|$)/.exec(line)?.[1])
  const last = new Map(keys.map((key, index) => [key, index]))
  let isKept = true
  return lines.filter((_, index) => {
    const key = keys[index]
    if (key !== undefined) isKept = last.get(key) === index
    return isKept
  })
}

const special = /[{}[\]*&#!|>%@`]|: /
const isQuoted = /^"(?:[^"\\]|\\.)*"$|^'(?:[^']|'')*'$/

function quoted(line: string): string {
  const found = /^([A-Za-z_-]+):[ \t]+(\S.*)$/.exec(line)
  if (found === null) return line
  const [, key = '', value = ''] = found
  const text = value.trimEnd()
  if (!special.test(text) || isQuoted.test(text)) return line
  const isList = /^[[{]/.test(text) && parseSource(`x: ${text}`, '').kind === 'parsed'
  return isList ? line : `${key}: ${JSON.stringify(text)}`
}
