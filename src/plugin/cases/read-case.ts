import { basename } from 'node:path'
import { entryKind } from '../../io/path-kind.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import { fileProblem, parseYaml, type SourceFile } from '../../io/yaml.ts'
import type { Grader } from '../generate/contract.ts'
import { type CaseFile, caseFileSchema, type PromptFile, promptSchema, withoutEffect } from './case-schema.ts'
import { type CaseProblem, listPlain, problem, problemOf, readCaseText } from './read-case-text.ts'
import { readGraders, splitFrontmatter, toGrader, unterminated } from './read-graders.ts'

/** A case as its author wrote it, both files merged. `prompt.md` overrides `case.yaml`. */
export interface WrittenCase extends Omit<PromptFile, 'schema_version' | 'name'> {
  /** Absolute. */
  readonly dir: string
  readonly name: string
  readonly prompt: string
  readonly graders: readonly Grader[]
  /** Absolute, like the next two. */
  readonly scaffold_script?: string
  readonly history_file?: string
  readonly add_dirs?: readonly string[]
}

/** `written` is null when the case cannot be used; `problems` has the reasons. */
export function readCase(dir: string) {
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
  const written: WrittenCase = {
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

function readPrompt(dir: string) {
  const path = `${dir}/prompt.md`
  const text = readCaseText(dir, 'prompt.md')
  if (text === null) return null
  const split = splitFrontmatter(text)
  if (split.kind === 'unterminated') throw unterminated(path)
  const fields: PromptFile =
    split.kind === 'plain' ? {} : parseYaml(split.yaml, path, promptSchema, { emptyIsAbsent: false }).value
  return { fields, body: split.body }
}

function readCaseFile(dir: string): SourceFile<CaseFile> | null {
  const text = readCaseText(dir, 'case.yaml')
  return text === null ? null : parseYaml(text, `${dir}/case.yaml`, caseFileSchema, { emptyIsAbsent: false })
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
      `graders[${index}]: ${fault?.message ?? 'is invalid'}`,
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
    if (entryKind(where.path) !== kind) throw fileProblem(file, at, `the case has no ${kind} '${named}'`)
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
function* check(written: WrittenCase): Generator<CaseProblem> {
  const { dir, prompt, graders } = written
  if (prompt.trim() === '') {
    const hint = 'Write it as the text of prompt.md, or as execution.prompt of case.yaml.'
    yield problem('error', dir, 'has no prompt', hint)
  }
  if (graders.length === 0)
    yield problem('error', dir, 'has no graders', 'Write at least one, as graders/NAME.md.')
  for (const [index, { name }] of graders.entries())
    if (graders.findIndex((other) => other.name === name) < index)
      yield problem('error', dir, `has two graders '${name}'`)
  for (const grader of graders) yield* checkGrader(grader, dir)
  for (const key of withoutEffect)
    if (written[key] !== undefined) yield problem('warning', dir, `${key} has no effect here`)
}

function* checkGrader(grader: Grader, dir: string): Generator<CaseProblem> {
  if (grader.type === 'tool_used' && grader.max !== null && grader.max < grader.min) {
    const never = `can never pass: it wants at least ${grader.min} and at most ${grader.max} calls`
    const hint = 'To allow no calls, write min: 0 and max: 0.'
    yield problem('warning', dir, `grader '${grader.name}' ${never}`, hint)
  }
  if (grader.type !== 'baseline') return
  const { name, baseline_file: file } = grader
  const where = resolveInside(dir, file)
  if (where.kind === 'inside' && entryKind(where.path) === 'file') return
  const why = where.kind === 'outside' ? where.reason : 'it does not exist'
  yield problem('error', dir, `the baseline '${file}' of grader '${name}' cannot be used: ${why}`)
}
