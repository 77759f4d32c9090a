# Run by CPack when the files of all packages lie in their folders, before the packages are made.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${component}")
  string(TOUPPER "${component}" upper)
  set(docs "${root}/usr/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  file(WRITE "${docs}/copyright"
       "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
       "Upstream-Name: voussoir\n\nFiles: *\nCopyright: Voussoir authors\nLicense: Apache-2.0\n"
       " On Debian systems the full text of the Apache License, version 2.0, is in\n"
       " /usr/share/common-licenses/Apache-2.0.\n")
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH, where it is set
  file(WRITE "${docs}/changelog.Debian"
       "voussoir (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n"
       " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
  execute_process(COMMAND gzip -9nf "${docs}/changelog.Debian" COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE "${docs}/LICENSE") # copyright says where it is
  file(GLOB_RECURSE pages "${root}/usr/share/man/*.1")
  foreach(page IN LISTS pages)
    execute_process(COMMAND gzip -9nf "${page}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
