import { translated } from './fs-error.ts'
import { joinPath, listDirectory, type Path, showPath } from './list-directory.ts'

export interface ListFilesOptions {
  /** Called with the path relative to the root, with `/`. A directory that is excluded is not entered. */
  readonly exclude?: (relativePath: string, isDirectory: boolean) => boolean
}

/** Files and links below a directory, relative to it, with `/`, sorted. Links are listed, never followed. */
export function listFiles(root: string, { exclude }: ListFilesOptions = {}): string[] {
  const found: string[] = []
  const visit = (directory: Path, prefix: string): void => {
    for (const entry of translated(`list ${showPath(directory)}`, () => listDirectory(directory))) {
      const relative = prefix + showPath(entry.name)
      if (exclude?.(relative, entry.isDirectory())) continue
      if (entry.isDirectory()) visit(joinPath(directory, entry.name), `${relative}/`)
      else if (entry.isFile() || entry.isSymbolicLink()) found.push(relative)
    }
  }
  visit(root, '')
  return found.sort()
}
