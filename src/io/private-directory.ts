import { lstatSync } from 'node:fs'
import { GantryError } from '../core/error.ts'
import { makePrivateDirectories } from './private-store.ts'

/** A directory that nobody but this user can enter, made when it is missing. false when it is somebody else's or open. */
export function privateDirectory(path: string, uid: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false }) ?? made(path)
  return stats?.isDirectory() === true && stats.uid === uid && (stats.mode & 0o077) === 0
}

function made(path: string) {
  try {
    makePrivateDirectories(path)
  } catch (cause) {
    if (cause instanceof GantryError) return undefined
    throw cause
  }
  return lstatSync(path, { throwIfNoEntry: false })
}
