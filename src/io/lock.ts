import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { errnoOf, isDone, orElse, translateFsError } from './fs-error.ts'
import { randomSuffix } from './ids.ts'
import { isEndless } from './path-kind.ts'
import { isOwnerAlive, type ProcessOwner, thisProcess } from './process-owner.ts'

/** Held until it is released or its process dies. */
export interface Lock {
  readonly path: string
  /** Safe to call twice. */
  release(): void
}

export interface LockHolder {
  readonly pid: number
  readonly label: string
  readonly host: string
  /** ISO 8601. */
  readonly since: string
}

/**
 * null when a living process holds it, including this one. Takes over the lock of a dead holder; exactly one of several concurrent
 * callers succeeds. A holder on another host counts as alive, because it cannot be checked from here.
 */
export function acquireLock(path: string, options: { readonly label: string }): Lock | null {
  const record: LockRecord = {
    ...thisProcess(),
    label: options.label,
    since: new Date().toISOString(),
    token: randomSuffix(16),
  }
  // Written to a temporary file and linked into place, so a lock never appears without its holder.
  const draft = `${path}.${record.token}.tmp`
  try {
    writeFileSync(draft, JSON.stringify(record), { flag: 'wx' })
    return take(path, draft, options.label) ? { path, release: () => release(path, record.token) } : null
  } catch (cause) {
    throw translateFsError(cause, `lock ${path}`)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** The holder, or null when it is free. */
export function lockHolder(path: string): LockHolder | null {
  const record = readRecord(path)
  if (record === null || !isOwnerAlive(record)) return null
  const { pid, label, host, since } = record
  return { pid, label, host, since }
}

interface LockRecord extends LockHolder, ProcessOwner {
  /** Identifies this holder. */
  readonly token: string
}

const takeTriesMax = 10

function take(path: string, draft: string, label: string): boolean {
  for (let tries = 0; tries < takeTriesMax; tries++) {
    if (isDone(['EEXIST'], () => linkSync(draft, path))) return true
    const dead = readRecord(path)
    if (dead === null) continue
    if (isOwnerAlive(dead)) return false
    // Only the process with this second lock may replace the dead one, if it is still in place.
    const succession = acquireLock(`${path}.${dead.token}.next`, { label })
    if (succession === null) return false
    try {
      if (readRecord(path)?.token !== dead.token) continue
      renameSync(draft, path)
      return true
    } finally {
      succession.release()
    }
  }
  return false
}

function release(path: string, token: string): void {
  if (readRecord(path)?.token === token) rmSync(path, { force: true })
}

/** null when there is no lock. A damaged one has no holder, but still a token. */
function readRecord(path: string): LockRecord | null {
  try {
    const text = isEndless(path) ? '' : readFileSync(path, 'utf8')
    return parseRecord(text) ?? damagedRecord(path)
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return null
    throw errnoOf(cause) === 'ENOTDIR' ? translateFsError(cause, `read ${path}`) : cause
  }
}

function parseRecord(text: string): LockRecord | null {
  const value: unknown = orElse(null, () => JSON.parse(text))
  return isRecord(value) ? value : null
}

function isRecord(value: unknown): value is LockRecord {
  if (typeof value !== 'object' || value === null) return false
  const { pid, startTicks, host, label, since, token } = value as Partial<Record<keyof LockRecord, unknown>>
  const areTexts = [host, label, since, token].every((text) => typeof text === 'string')
  const hasStart = startTicks === null || typeof startTicks === 'number'
  return areTexts && hasStart && Number.isInteger(pid) && /^[a-z0-9]+$/.test(String(token))
}

function damagedRecord(path: string): LockRecord {
  const { ino, mtimeMs } = statSync(path)
  const token = `damaged${ino}x${Math.trunc(mtimeMs)}`
  return { pid: 0, startTicks: null, host: hostname(), label: '', since: '', token }
}
