import fs from 'node:fs'
import { basename } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { GantryError } from '../core/error.ts'
import { asInteger, asObject, asString, parseJson } from '../core/json-fields.ts'
import { makeDirectories } from './directory.ts'
import { allowing, orElse, translated } from './fs-error.ts'
import { joinPath, listDirectory, type Path, toBytes } from './list-directory.ts'

const permissions = 0o777
/** Files of another user, and files that were removed meanwhile. */
const unreadable = ['EACCES', 'EPERM', 'ENOENT']

/**
 * The content of a directory as bytes: files, links and directories with their permissions. Links are kept as they are, wherever they
 * lead, because a Python environment has links to the interpreter of the machine. Sockets, devices and unreadable files are left out.
 *
 * `exclude` gets paths relative to the root, with `/`; a directory that is excluded is not entered.
 *
 * The format is gzip over entries. An entry is a line of JSON, then its content. Names are bytes, written as Latin-1.
 */
export function packTree(root: string, exclude: (path: string) => boolean = () => false): Buffer {
  const pieces: Buffer[] = []
  const add = (path: string, kind: 'file' | 'directory' | 'link', mode: number, content: Buffer): void => {
    pieces.push(Buffer.from(`${JSON.stringify({ path, kind, mode, bytes: content.length })}\n`), content)
  }
  const visit = (directory: Path, prefix: string): void => {
    for (const entry of allowing(unreadable, () => listDirectory(directory)) ?? []) {
      const name = prefix + toBytes(entry.name).toString('latin1')
      if (exclude(name)) continue
      const path = joinPath(directory, entry.name)
      const mode = (fs.lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & permissions
      const read = (content: () => Buffer): Buffer | undefined => allowing(unreadable, content)
      if (entry.isDirectory()) {
        add(name, 'directory', mode, Buffer.alloc(0))
        visit(path, `${name}/`)
      } else if (entry.isFile()) {
        const content = read(() => fs.readFileSync(path))
        if (content !== undefined) add(name, 'file', mode, content)
      } else if (entry.isSymbolicLink()) {
        const target = read(() => fs.readlinkSync(path, { encoding: 'buffer' }))
        if (target !== undefined) add(name, 'link', 0, target)
      }
    }
  }
  translated(`read ${root}`, () => visit(root, ''))
  return gzipSync(Buffer.concat(pieces), { level: 1 })
}

/**
 * Writes what `packTree` returned into a directory that is missing or empty. The bytes may come from anywhere: nothing is written
 * outside of the directory or through a link. Throws GantryError CORRUPT.
 */
export function unpackTree(packed: Uint8Array, to: string): void {
  const bytes = orElse(null, () => gunzipSync(packed))
  if (bytes === null) throw damaged(to)
  makeDirectories(to)
  const made = new Set([''])
  const modes: [Buffer, number][] = []
  const keptModes = new Set<number>()
  const root = Buffer.from(`${to}/`)
  translated(`write ${to}`, () => {
    for (let at = 0; at < bytes.length; ) {
      const lineEnd = bytes.indexOf(10, at)
      const entry = lineEnd === -1 ? null : parseEntry(bytes.toString('utf8', at, lineEnd))
      const end = lineEnd + 1 + (entry?.bytes ?? 0)
      // Links and files are never added to `made`, so nothing is below them.
      if (entry === null || end > bytes.length || !made.has(parentOf(entry.path))) throw damaged(to)
      const content = bytes.subarray(lineEnd + 1, end)
      const place = Buffer.concat([root, Buffer.from(entry.path, 'latin1')])
      if (entry.kind === 'directory') {
        fs.mkdirSync(place, 0o700)
        made.add(entry.path)
        modes.push([place, entry.mode])
      } else if (entry.kind === 'link') fs.symlinkSync(content, place)
      else {
        fs.writeFileSync(place, content, { flag: 'wx', mode: entry.mode })
        // The umask may have removed bits. Tested once per mode, instead of a chmod for every file.
        const isKept = keptModes.has(entry.mode) || (fs.lstatSync(place).mode & permissions) === entry.mode
        if (isKept) keptModes.add(entry.mode)
        else fs.chmodSync(place, entry.mode)
      }
      at = end
    }
    // Children first, because nothing can be added to a read-only directory.
    for (const [place, mode] of modes.reverse()) fs.chmodSync(place, mode)
  })
}

function parseEntry(line: string) {
  const { path, kind, mode, bytes } = asObject(parseJson(line)) ?? {}
  const known = (['file', 'directory', 'link'] as const).find((name) => name === kind)
  const text = asString(path) ?? ''
  const isInside = text.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  const size = asInteger(bytes) ?? -1
  if (known === undefined || !isInside || text.includes('\0') || size < 0) return null
  return { path: text, kind: known, mode: (asInteger(mode) ?? 0) & permissions, bytes: size }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function damaged(to: string): GantryError {
  return new GantryError('CORRUPT', `the archive of ${basename(to)} is damaged`, {
    hint: 'Copy it again from where it was made.',
  })
}
