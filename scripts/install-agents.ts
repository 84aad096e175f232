import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { agentDirectory, findAgent } from './agent-cache.ts'
import { type PinnedAgent, pinnedAgents } from './pinned-agents.ts'

/** Installs missing agents and warns about those that could not be installed; with CI=true it exits with an error. */
export function requireAgents(suites: readonly PinnedAgent['suite'][]): void {
  const missing = installAgents(suites)
  for (const problem of missing) console.error(`Not installed, ${problem}`)
  if (missing.length > 0 && process.env.CI === 'true') process.exit(3)
}

/** Installs missing agents. Returns those that could not be installed, with npm's message. */
function installAgents(suites: readonly PinnedAgent['suite'][]): string[] {
  return pinnedAgents
    .filter(({ id, suite }) => suites.includes(suite) && findAgent(id) === null)
    .flatMap((agent) => {
      console.log(`Installing ${agent.package} ${agent.version} for the tests …`)
      const problem = install(agent)
      return problem === null ? [] : [`${agent.id} ${agent.version}: ${problem}`]
    })
}

/** Installs into a temporary directory and renames it: an interrupted install leaves no half agent. */
function install(agent: PinnedAgent): string | null {
  const place = agentDirectory(agent)
  mkdirSync(dirname(place), { recursive: true })
  const draft = mkdtempSync(join(dirname(place), `.${basename(place)}-`))
  const { status, stderr, error } = spawnSync(
    'npm',
    [
      'install',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      ...(agent.flags ?? []),
      '--prefix',
      draft,
      `${agent.package}@${agent.version}`,
    ],
    { encoding: 'utf8', shell: process.platform === 'win32' },
  )
  try {
    if (status !== 0) return error?.message ?? stderr.trim()
    renameSync(draft, place)
    return null
  } catch (cause) {
    // Another test run may have installed it first.
    return findAgent(agent.id) === null ? String(cause) : null
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
