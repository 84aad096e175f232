import { dirname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stringify } from 'yaml'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from '../io/directory.ts'
import { writeFileAtomic } from '../io/files.ts'
import { isFile, pathKind } from '../io/path-kind.ts'
import { slug } from './plan.ts'

/** Writes a small working scenario for its author to change. Returns the paths, the scenario first. */
export function newScenario(
  name: string,
  { directory, target, cwd }: { readonly directory: string; readonly target: string; readonly cwd: string },
): string[] {
  const folder = slug(name)
  const base = resolve(cwd, directory)
  const scenario = join(base, `${folder}.yaml`)
  const taken = [scenario, join(base, folder)].find((path) => pathKind(path) !== null)
  if (taken !== undefined) {
    throw new GantryError('USAGE', `${relative(cwd, taken)} already exists`, {
      hint: 'Choose another name or remove it.',
    })
  }
  const files: [string, string][] = [
    [scenario, schemaLine('scenario', base, cwd) + scenarioText(name, folder, target)],
    [join(base, folder, 'AGENTS.md'), guidance(target)],
    [join(base, folder, 'solve.sh'), oracle],
  ]
  makeDirectories(join(base, folder))
  for (const [path, text] of files) writeFileAtomic(path, text)
  return files.map(([path]) => relative(cwd, path))
}

/** Editors check the file with it: by a relative path when Gantry is installed in the project, else by an address of a file. */
export function schemaLine(name: 'scenario' | 'gantry', base: string, cwd: string): string {
  for (
    let directory = import.meta.dirname;
    directory !== dirname(directory);
    directory = dirname(directory)
  ) {
    const schema = join(directory, `schemas/${name}.schema.json`)
    if (!isFile(schema)) continue
    const isInProject = !relative(cwd, schema).startsWith('..')
    const place = isInProject ? relative(base, schema).split(sep).join('/') : pathToFileURL(schema).href
    return `# yaml-language-server: $schema=${place}\n`
  }
  return ''
}

function scenarioText(name: string, folder: string, target: string): string {
  return `name: ${stringify(name).trim()}
description: Say in one sentence what this tests.
target:
  binary: ${stringify(target).trim()}
template_folder: ${folder}
task:
  prompt: |
    Use ${target} to write its version into the file answer.txt.
# A script that solves the task. 'gantry scenario check' uses it to prove that the gates can be passed. The agent never sees it.
oracle:
  command: sh ./solve.sh
evaluation:
  gates:
    - type: file_exists
      path: answer.txt
    - type: workspace_delta
      created: [answer.txt]
tags: []
tier: 0
`
}

function guidance(target: string): string {
  return `# ${target}\n\nWrite here the guidance for agents that use ${target}: this text is under test.\n`
}

const oracle = `#!/bin/sh\necho solved > answer.txt\n`
