import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { readTextInside, writeFileAtomic } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import { readForeignFile, replaceForeignFile } from '../../io/replace-file.ts'

const maxBytes = 16 * 1024 * 1024

/** The plan file of a project. It can change or disappear at any time. */
export interface PlanFile {
  readonly root: string
  /** Relative to the root, with `/`. */
  readonly path: string
}

/** null when the file is missing, outside of the project or not valid UTF-8. */
export function readPlanFile({ root, path }: PlanFile): string | null {
  const file = readTextInside(root, path, { maxBytes })
  // A replacement character must never be written back.
  return file.kind === 'text' && !file.text.includes('\uFFFD') ? file.text : null
}

/** Like `readPlanFile`, but throws when the plan cannot be read. */
export function requirePlanFile(plan: PlanFile): string {
  const text = readPlanFile(plan)
  if (text !== null) return text
  throw new GantryError('NOT_FOUND', `no plan at ${join(plan.root, plan.path)}`, {
    hint: 'Write one with tasks as `- [ ] title`, or name another: gantry plan run PLAN.',
  })
}

/** Writes atomically and keeps the permissions: a reader sees either the old text or the new text. */
export function writePlanFile({ root, path }: PlanFile, text: string): void {
  const whole = join(root, path)
  // A file that was deleted or replaced by a link is created again.
  if (isFile(whole) && readPlanFile({ root, path }) !== null) replaceForeignFile(readForeignFile(whole), text)
  else writeFileAtomic(whole, text)
}
