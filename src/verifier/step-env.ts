import { redirected } from './artifacts.ts'
import type { VerificationConfig } from './contract.ts'

/** `CI` makes test programs non-interactive, and keeps them from rewriting snapshots. */
export function stepEnv(config: VerificationConfig): Readonly<Record<string, string>> {
  const places = Object.entries(redirected).map(([name, directory]) => [name, `/artifacts/${directory}`])
  return { CI: 'true', ...config.env, ...Object.fromEntries(places) }
}
