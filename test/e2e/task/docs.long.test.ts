import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { editorStates, loopLimits } from '../../../src/task/contract.ts'
import { program } from '../../support/program.ts'
import { commitAll, git } from '../plan/lab.ts'
import { fencesOf, readDocument, root } from '../support/documents.ts'
import { type GantryResult, startGantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { envOf } from './lab.ts'

const page = readDocument('docs/task.md')

test('the page about tasks shows what the program really prints', async () => {
  using project = makeProject()
  cpSync(join(root, 'examples/task/typescript'), project.dir, { recursive: true })
  commitAll(project)
  let ran = 0
  for (const { text } of fencesOf(page).filter(({ language }) => language === 'console')) {
    let printed: readonly string[] = []
    for (const line of text.trimEnd().split('\n')) {
      if (line.startsWith('$ gantry ')) {
        ran += 1
        // The tree as it was at the start, for the tour through the dry run.
        if (line.includes('--dry-run')) git(project, 'checkout', '--quiet', '.')
        printed = await linesOf(project, wordsOf(line.slice(9)))
      } else if (line !== '…' && line.trim() !== '') {
        const found = printed.indexOf(settled(line))
        expect(found, `${line}\n--- is not in what follows:\n${printed.join('\n')}`).not.toBe(-1)
        printed = printed.slice(found + 1)
      }
    }
  }
  expect(ran).toBeGreaterThan(8)
})

test('every state, every limit and every command is on the page', () => {
  for (const state of editorStates.slice(1, 6)) expect(page.text).toContain(`\`${state}\``)
  for (const state of ['SUCCESS', 'WEAKENED', 'NO_CHANGE', 'STUCK', 'INFRA_ERROR', 'CANCELLED'])
    expect(page.text).toContain(`| ${state} `)
  expect(page.text).toMatch(new RegExp(`new strategy +\\| ${loopLimits.replanAfter} `))
  expect(page.text).toMatch(new RegExp(`verifications in total +\\| ${loopLimits.hardStopAt},`))
  for (const name of [
    'run',
    'submit',
    'list',
    'show',
    'logs',
    'cancel',
    'apply',
    'undo',
    'commit',
    'drop',
    'tell',
    'retry',
    'history',
    'metrics',
    'work',
  ])
    expect(page.text).toContain(`| \`gantry task ${name}`)
})

async function linesOf(project: TestProject, argv: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await run(project, argv)
  // The proposal of the dry run fails its verification.
  expect(code, stdout + stderr).toBe(argv.includes('--dry-run') ? 1 : 0)
  return stdout.split('\n').map(settled)
}

/** `gantry` inside of a command line is this program, too. */
function run(project: TestProject, argv: readonly string[]): Promise<GantryResult> {
  const inner = argv.indexOf('--')
  const own = [process.execPath, program]
  const words = inner === -1 ? argv : [...argv.slice(0, inner + 1), ...own, ...argv.slice(inner + 2)]
  // Without its own key and without Docker, `auto` chooses bubblewrap.
  const env = envOf(project, null, {
    DOCKER_HOST: 'unix:///nonexistent/docker.sock',
    ...(words.includes('submit') && { ANTHROPIC_API_KEY: 'made-up' }),
  })
  return startGantry(project, words, { env }).ended
}

function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

/** Without times, ids, and the room they take. */
function settled(line: string): string {
  return line
    .replaceAll(/\b\d\d:\d\d:\d\d\b/g, 'TIME')
    .replaceAll(/\b(run|task)_\d{8}_\d{6}_[a-z0-9]{6}/g, '$1_ID')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
