import { builtInPrices } from '../../models/prices.ts'

/**
 * The model name for `models/`: `default`, or `provider:model`. A name without a provider is one of
 * Anthropic: `opus`, `sonnet`, `haiku` (the newest of its family), `sonnet-4.5`, `haiku-3.5`, `claude-opus-4-1`.
 */
export function apiModelName(asked: string): string {
  const name = asked.trim()
  if (name === 'default') return name
  const { provider, model } = parts(name)
  return `${provider}:${provider === 'anthropic' ? claudeName(model).replace(/\[[^\]]*\]$/, '') : model}`
}

/** The model name for Claude Code; null for a model of another provider, which it cannot use. */
export function agentModelName(asked: string): string | null {
  const name = asked.trim()
  if (name === 'default') return name
  const { provider, model } = parts(name)
  return provider === 'anthropic' && model !== '' ? claudeName(model) : null
}

/** Some names contain a colon that does not end a provider, such as `us.anthropic.claude-sonnet-4-5-v1:0`. */
function parts(name: string): { readonly provider: string; readonly model: string } {
  const [, provider, model] = /^([a-z][a-z-]*):(.*)$/.exec(name) ?? []
  return { provider: provider ?? 'anthropic', model: model ?? name }
}

const families = ['opus', 'sonnet', 'haiku', 'fable', 'mythos'] as const

/** `[1m]`, by which Claude Code asks for a long context, is not part of the name and stays. A name that is not an alias is not changed. */
function claudeName(name: string): string {
  const [, stem = name, suffix = ''] = /^([^[\]]*)(\[[^\]]*\])?$/.exec(name) ?? []
  const [, family, version] =
    new RegExp(`^(?:claude-)?(${families.join('|')})(?:-(\\d+(?:[.-]\\d+)*))?$`, 'i').exec(stem) ?? []
  if (family === undefined) return name
  const found =
    version === undefined ? newest(family.toLowerCase()) : versioned(family.toLowerCase(), version)
  return found + suffix
}

/** Models before the fourth generation have the version before the family. */
function versioned(family: string, version: string): string {
  const digits = version.replaceAll('.', '-')
  return Number.parseInt(digits, 10) < 4 ? `claude-${digits}-${family}` : `claude-${family}-${digits}`
}

/** From the price table, which knows the newest models. */
function newest(family: string): string {
  const known = Object.keys(builtInPrices).filter((name) => name.startsWith(`claude-${family}-`))
  const [first] = known.toSorted((a, b) => compareVersions(versionOf(b), versionOf(a)))
  return first ?? family
}

function versionOf(name: string): readonly number[] {
  return name.split('-').slice(2).map(Number)
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  const length = Math.max(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
