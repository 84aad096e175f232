import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { makeProject, type TestProject } from '../support/project.ts'

const url = pathToFileURL(join(import.meta.dirname, '../../../scripts/demo-task.ts')).href

test.concurrent('the part of the demo about tasks goes red, debugs, goes green and shows the report', () => {
  using project = makeProject()
  const printed = demo(project, process.env.PATH ?? '')
  for (const words of [
    'FAIL run_',
    'PASS run_',
    '# Task Completed',
    'How Verified',
    'failed, debugged, passed',
  ])
    expect(printed).toContain(words)
  expect(printed).toContain('in bubblewrap')
})

test.concurrent('without bubblewrap the demo warns that there is no sandbox', () => {
  using project = makeProject()
  const printed = demo(project, pathWithout(project, 'bwrap'))
  expect(printed).toContain('WITHOUT A SANDBOX')
  expect(printed).toContain('failed, debugged, passed')
})

function demo(project: TestProject, PATH: string): string {
  const code = `process.exitCode = (await (await import(process.argv[1])).demoTask(process.argv[2])) ? 0 : 1`
  const argv = ['--input-type=module', '--eval', code, url, project.dir]
  return execFileSync(process.execPath, argv, { encoding: 'utf8', env: { PATH, HOME: project.home } })
}

/** Every program of the machine but one. */
function pathWithout(project: TestProject, unwanted: string): string {
  const place = join(project.home, 'bin')
  mkdirSync(place)
  const seen = new Set([unwanted])
  for (const directory of (process.env.PATH ?? '').split(delimiter))
    for (const name of namesIn(directory)) {
      if (seen.has(name)) continue
      seen.add(name)
      symlinkSync(join(directory, name), join(place, name))
    }
  return place
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
