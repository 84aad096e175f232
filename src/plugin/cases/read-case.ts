import { basename } from 'node:path'
import { entryKind } from '../../io/path-kind.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import { fileProblem, parseYaml, type SourceFile } from '../../io/yaml.ts'
import type { Grader } from '../generate/contract.ts'
import { type CaseProblem, problem, problemOf } from './case-problem.ts'
import { type CaseFile, caseFileSchema, type PromptFile, promptSchema, withoutEffect } from './case-schema.ts'
import { listPlain, readCaseText } from './read-case-files.ts'
import { readGraders, splitFrontmatter, toGrader, unterminated } from './read-graders.ts'

/** A case as its author wrote it, both files merged. `prompt.md` wins. */
export interface WrittenCase extends Omit<PromptFile, 'schema_version' | 'name'> {
  /** Absolute. */
  readonly dir: string
  readonly name: string
  readonly prompt: string
  readonly graders: readonly Grader[]
  /** Absolute, as the two after it. */
  readonly scaffold_script?: string
  readonly history_file?: string
  readonly add_dirs?: readonly string[]
}

export interface ReadCase {
  /** null when it cannot be used; the problems say why. */
  readonly written: WrittenCase | null
  readonly problems: readonly CaseProblem[]
}

export function readCase(dir: string): ReadCase {
  const problems: CaseProblem[] = [...listPlain(dir).problems]
  const attempt = <T>(path: string, work: () => T): T | null => {
    try {
      return work()
    } catch (error) {
      problems.push(problemOf(error, path))
      return null
    }
  }
  const yamlPath = `${dir}/case.yaml`
  const prompt = attempt(`${dir}/prompt.md`, () => readPrompt(dir))
  const file = attempt(yamlPath, () => readCaseFile(dir))
  const listed = file === null ? [] : (attempt(yamlPath, () => listedGraders(file)) ?? [])
  const context = file === null ? {} : (attempt(yamlPath, () => contextPaths(dir, file)) ?? {})
  const own = readGraders(dir)
  problems.push(...own.problems)
  const { prompt: listedPrompt, ...run } = file?.value.execution ?? {}
  const {
    schema_version: _version,
    graders: _graders,
    execution: _execution,
    context: _context,
    ...head
  } = file?.value ?? {}
  const { schema_version: _ownVersion, ...fields } = prompt?.fields ?? {}
  const written = {
    ...head,
    ...run,
    ...fields,
    ...context,
    dir,
    name: fields.name ?? file?.value.name ?? basename(dir),
    prompt: prompt === null || prompt.body === '' ? (listedPrompt ?? '') : prompt.body,
    graders: [...listed, ...own.graders],
  }
  // Unreadable parts would only be reported again as missing.
  if (!problems.some(isError)) problems.push(...check(written))
  return { written: problems.some(isError) ? null : written, problems }
}

function isError({ severity }: CaseProblem): boolean {
  return severity === 'error'
}

interface PromptText {
  readonly fields: PromptFile
  readonly body: string
}

function readPrompt(dir: string): PromptText | null {
  const path = `${dir}/prompt.md`
  const text = readCaseText(dir, 'prompt.md')
  if (text === null) return null
  const split = splitFrontmatter(text)
  if (split.kind === 'unterminated') throw unterminated(path)
  if (split.kind === 'plain') return { fields: {}, body: split.body }
  return { fields: parseYaml(split.yaml, path, promptSchema).value, body: split.body }
}

function readCaseFile(dir: string): SourceFile<CaseFile> | null {
  const text = readCaseText(dir, 'case.yaml')
  return text === null ? null : parseYaml(text, `${dir}/case.yaml`, caseFileSchema)
}

function listedGraders(file: SourceFile<CaseFile>): readonly Grader[] {
  return (file.value.graders ?? []).map((written, index) => {
    if (written.name === undefined)
      throw fileProblem(file, ['graders', index], `missing key 'name' in graders[${index}]`)
    const made = toGrader(written, written.name, '')
    if (made.kind === 'grader') return made.grader
    const [fault] = made.faults
    throw fileProblem(
      file,
      ['graders', index, fault?.key ?? 'type'],
      `graders[${index}]: ${fault?.message ?? 'is faulty'}`,
      fault?.hint,
    )
  })
}

type ContextPaths = Pick<WrittenCase, 'scaffold_script' | 'history_file' | 'add_dirs'>

/** The paths of a case must exist in its own directory. */
function contextPaths(dir: string, file: SourceFile<CaseFile>): ContextPaths {
  const { scaffold_script, history_file, add_dirs } = file.value.context ?? {}
  const inside = (named: string, key: readonly PropertyKey[], kind: 'file' | 'directory'): string => {
    const where = resolveInside(dir, named)
    const at = ['context', ...key]
    if (where.kind === 'outside') throw fileProblem(file, at, `'${named}' may not be used: ${where.reason}`)
    if (entryKind(where.path) !== kind)
      throw fileProblem(file, at, `there is no ${kind} '${named}' in the case`)
    return where.path
  }
  return {
    ...(scaffold_script !== undefined && {
      scaffold_script: inside(scaffold_script, ['scaffold_script'], 'file'),
    }),
    ...(history_file !== undefined && { history_file: inside(history_file, ['history_file'], 'file') }),
    ...(add_dirs !== undefined && {
      add_dirs: add_dirs.map((named, index) => inside(named, ['add_dirs', index], 'directory')),
    }),
  }
}

/** Checks that need the whole case. */
function check(written: WrittenCase): readonly CaseProblem[] {
  const { dir, prompt, graders } = written
  const problems: CaseProblem[] = []
  if (prompt.trim() === '')
    problems.push(
      problem(
        'error',
        dir,
        'has no prompt',
        'Write it as the text of prompt.md, or as execution.prompt of case.yaml.',
      ),
    )
  if (graders.length === 0)
    problems.push(problem('error', dir, 'has no graders', 'Write at least one, as graders/NAME.md.'))
  for (const [index, { name }] of graders.entries())
    if (graders.findIndex((other) => other.name === name) < index)
      problems.push(problem('error', dir, `has two graders '${name}'`))
  for (const grader of graders) problems.push(...checkGrader(grader, written))
  for (const key of withoutEffect)
    if (written[key] !== undefined) problems.push(problem('warning', dir, `${key} has no effect here`))
  return problems
}

function checkGrader(grader: Grader, { dir }: WrittenCase): readonly CaseProblem[] {
  if (grader.type === 'tool_used' && grader.max !== null && grader.max < grader.min)
    return [
      problem(
        'warning',
        dir,
        `grader '${grader.name}' can never pass: it wants at least ${grader.min} and at most ${grader.max} calls`,
        'To say that there must be none, write min: 0 and max: 0.',
      ),
    ]
  if (grader.type !== 'baseline') return []
  const where = resolveInside(dir, grader.baseline_file)
  if (where.kind === 'inside' && entryKind(where.path) === 'file') return []
  const why = where.kind === 'outside' ? where.reason : 'it does not exist'
  return [
    problem(
      'error',
      dir,
      `the baseline '${grader.baseline_file}' of grader '${grader.name}' cannot be used: ${why}`,
    ),
  ]
}
