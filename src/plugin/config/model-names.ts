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

/** What Claude Code 2.1.325 runs when no model is named, with a key of the API. */
const chosenByClaude = 'claude-opus-5-5'

/** The model that a session of Claude Code runs, before it has reported one. */
export function expectedAgentModel(
  asked: string,
  env: Readonly<Record<string, string | undefined>> = {},
): string {
  const named = asked === 'default' ? env.ANTHROPIC_MODEL?.trim() : asked
  return named === undefined || named === '' ? chosenByClaude : (agentModelName(named) ?? named)
}

/** The window of a model in Claude Code 2.1.325, in tokens, as it reports it itself. */
export function contextWindow(model: string): number {
  if (model.endsWith('[1m]')) return 1_000_000
  const { family, major, minor } = claudeVersion(model)
  return major >= 5 || (family === 'opus' && major === 4 && minor >= 7) ? 1_000_000 : 200_000
}

/**
 * Whether the model decides by itself how much it thinks, so that a number of tokens has no effect. Seen in the requests of Claude
 * Code 2.1.325. The models of version 4.6 take a number when CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING is set, newer ones never.
 */
export function thinksAdaptively(
  model: string,
  env: Readonly<Record<string, string | undefined>> = {},
): boolean {
  const isOff = !['', '0', 'false'].includes(env.CLAUDE_CODE_DISABLE_ADAPTIVE_THINKING?.trim() ?? '')
  return isAtLeast(model, isOff ? 7 : 6)
}

/** Whether a call of the API may set a temperature. The newest models refuse it. */
export function takesTemperature(model: string): boolean {
  return !isAtLeast(model, 7)
}

/** Version 4.`wanted` of Claude, or a newer one. A name that is not known is not. */
function isAtLeast(model: string, wanted: number): boolean {
  const { major, minor } = claudeVersion(model)
  return major > 4 || (major === 4 && minor >= wanted)
}

function claudeVersion(model: string) {
  const [, family = '', major = '0', minor = '0'] =
    /claude-(opus|sonnet|haiku|fable|mythos)-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model) ?? []
  return { family, major: Number(major), minor: Number(minor) }
}

/** Some names contain a colon that does not end a provider, such as `us.anthropic.claude-sonnet-4-5-v1:0`. */
function parts(name: string): { readonly provider: string; readonly model: string } {
  const [, provider, model] = /^([a-z][a-z-]*):(.*)$/.exec(name) ?? []
  return { provider: provider ?? 'anthropic', model: model ?? name }
}

const families = ['opus', 'sonnet', 'haiku', 'fable', 'mythos'] as const

/** The suffix `[1m]`, which requests a long context, is kept. A name that is not an alias is not changed. */
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
  return known.toSorted(byVersion.compare).at(-1) ?? family
}

const byVersion = new Intl.Collator('en', { numeric: true })
