import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HookedAgent } from '../../src/agents/hook-codecs.ts'

export interface HookPayload {
  /** Version and file, such as `2.1.325/PreToolUse.Bash`. */
  readonly name: string
  /** The event as the agent names it, from the file's name. */
  readonly event: string
  readonly payload: Record<string, unknown>
}

const agents = join(import.meta.dirname, '../../src/agents')

export function hookFixtures(agent: HookedAgent): string {
  return join(agents, agent, 'fixtures/hooks')
}

/** Payloads that were captured, by version, and those written by documentation, in `documented`. */
export function hookPayloads(agent: HookedAgent): readonly HookPayload[] {
  const root = hookFixtures(agent)
  const versions = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return versions
    .map(({ name }) => name)
    .sort()
    .flatMap((version) => payloadsIn(root, version))
}

function payloadsIn(root: string, version: string): readonly HookPayload[] {
  const files = readdirSync(join(root, version)).filter((file) => file.endsWith('.json'))
  return files.sort().map((file) => {
    const name = file.slice(0, -'.json'.length)
    const payload = JSON.parse(readFileSync(join(root, version, file), 'utf8'))
    return { name: `${version}/${name}`, event: payload.hook ?? name.replace(/\..*/, ''), payload }
  })
}
