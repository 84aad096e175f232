import { GantryError } from '../../core/error.ts'

/**
 * An address from the environment, without a slash at its end. `version` is what the SDK wants behind it and people leave
 * out, as the agents' own variables do; it is added when no version stands there.
 */
export function baseUrl(
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
  { standard, version }: { readonly standard: string; readonly version?: string },
): string {
  const given = env[variable]?.trim()
  if (given === undefined || given === '') return standard
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new GantryError('USAGE', `${variable} is no address: ${JSON.stringify(given)}`, {
      hint: 'Write it with http:// or https:// in front.',
    })
  const trimmed = given.replace(/\/+$/, '')
  return version === undefined || /\/v\d+(?:alpha|beta)?$/.test(trimmed) ? trimmed : `${trimmed}/${version}`
}
