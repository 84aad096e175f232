import { expect, test } from 'vitest'
import { gantry, startGantry } from '../support/gantry.ts'
import { agentScript, smallProject, type TestProject, writes } from '../support/project.ts'

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 500_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited in vain')
    await new Promise((go) => setTimeout(go, 25))
  }
}

function watched(project: TestProject) {
  const { child, ended } = startGantry(project, ['test', '--watch'])
  let seen = ''
  child.stderr?.on('data', (text: string) => {
    seen += text
  })
  child.stdout?.on('data', (text: string) => {
    seen += text
  })
  const waits = (): number => seen.split('Watching for changes').length - 1
  return { child, ended, seen: () => seen, waits }
}

test('--watch runs again when a template, a scenario or an agent changes, survives a broken file, and ends by Ctrl-C', async () => {
  using project = smallProject({ turns: [] })
  const { child, ended, seen, waits } = watched(project)
  try {
    await until(() => waits() === 1)
    expect(seen()).toContain('1 failed')
    await settle()
    project.write({ 'agents/worker.yaml': agentScript([writes('done.txt')]) })
    await until(() => waits() === 2)
    expect(seen()).toContain('1 passed')
    await settle()
    const scenario = project.read('scenarios/case.yaml')
    project.write({ 'scenarios/case.yaml': 'name: [' })
    await until(() => waits() === 3)
    expect(seen()).toMatch(/error: .*case\.yaml:\d+/)
    await settle()
    project.write({ 'scenarios/case.yaml': scenario })
    await until(() => waits() === 4)
    await settle()
    project.write({ 'fixtures/template/AGENTS.md': 'Other guidance.\n' })
    await until(() => waits() === 5)
    child.kill('SIGINT')
    const { code } = await ended
    expect([0, 130]).toContain(code)
  } finally {
    child.kill('SIGKILL')
  }
})

test('--watch cannot be combined with --json or --resume', async () => {
  using project = smallProject()
  for (const argv of [['--json'], ['--resume', 'latest']]) {
    const { code, stderr } = await gantry(project, ['test', '--watch', ...argv])
    expect(code).toBe(2)
    expect(stderr).toContain('--watch cannot be combined with')
  }
})

/** The watchers are opened right after the line that says so. */
function settle(): Promise<void> {
  return new Promise((go) => setTimeout(go, 150))
}
