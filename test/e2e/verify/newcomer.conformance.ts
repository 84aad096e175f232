import { describe, expect, type test } from 'vitest'
import { findProgram } from '../../../src/io/find-program.ts'
import { readAgentFile } from '../../../src/verifier/agent-file.ts'
import {
  asLinkedWorktree,
  type NewcomerRepository,
  newcomerRepositories,
  newcomerTools,
} from '../../support/newcomer-repositories.ts'
import { gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { commitAll, verifyJson } from './lab.ts'

interface Place {
  readonly sandbox: 'docker' | 'bubblewrap'
  readonly on: typeof test
  /** Of Docker. */
  readonly image?: string
  readonly env?: Readonly<Record<string, string>>
  /** Whether steps find this program. */
  readonly has: (program: string) => boolean
}

/** `gantry init` and then `gantry verify` pass at once in every repository, or name what is missing. */
export function newcomersPass(place: Place, isWanted: (name: string) => boolean = () => true): void {
  const { sandbox, on, has } = place
  describe.each(Object.entries(newcomerRepositories).filter(([name]) => isWanted(name)))(
    '%s',
    (name, repository) => {
      const { setup, steps, leftOut = [] } = repository
      const missing = (repository.needs ?? []).filter((program) => !has(program))
      on(`${missing.length === 0 ? 'passes at once' : 'names what is missing'} on ${sandbox}`, async () => {
        using project = cloned(name, repository)
        const found = await initAndVerify(project, place)
        const { stdout } = found
        expect({ setup: found.setup, steps: found.steps }, stdout).toEqual({ setup, steps })
        const isGood = missing.length === 0
        expect([found.code, found.status], stdout).toEqual(isGood ? [0, 'PASS'] : [1, 'FAIL'])
        for (const command of leftOut) expect(stdout).toContain(`Left out: ${command}. The program`)
        if (!isGood)
          expect(stdout).toMatch(new RegExp(`hint: (?:The program|There is no) (?:${missing.join('|')})\\b`))
        // What was installed while trying is used.
        if (isGood && setup.length > 0) expect(found.verifyErrors).toContain('setup: nothing has changed')
      })
    },
  )
}

function cloned(name: string, { files, prepare }: NewcomerRepository): TestProject {
  const project = makeProject({ ...newcomerTools, ...files })
  prepare?.(project.dir)
  commitAll(project.dir)
  if (name === 'a linked git worktree') asLinkedWorktree(project.dir)
  return project
}

/** With the tools of the repository on the PATH. */
async function initAndVerify(project: TestProject, { sandbox, image, env: more }: Place) {
  const env = { PATH: `${project.path('tools')}:${process.env.PATH}`, ...more }
  const argv = ['--sandbox', sandbox, ...(image === undefined ? [] : ['--image', image])]
  const init = await gantry(project, ['init', '--yes', ...argv], { env })
  const { setup = [], steps } = readAgentFile(project.dir).file.verification
  const { status, result } = await verifyJson(project, ['--sandbox', sandbox], { env })
  const commands = (list: readonly { readonly command: string }[]) => list.map(({ command }) => command)
  return { ...init, status, verifyErrors: result.stderr, setup: commands(setup), steps: commands(steps) }
}

/** What the image of the tests has. */
export const hasInImage = (program: string): boolean => ['cc', 'make'].includes(program)

export const hasOnMachine = (program: string): boolean =>
  findProgram(program, process.env.PATH ?? '') !== null
