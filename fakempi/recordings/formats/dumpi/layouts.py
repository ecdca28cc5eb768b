"""The records of DUMPI: MPI functions in the order of their numbers, and the fields of each.

i 32 bits, h 16 bits (communicators and other handles), d a datatype (16 bits), b 8 bits, q 64 bits; arrays with their length
in 32 bits before: I of i, D of d, H of h, B of b, C of characters; J an array of I, K an array of C, L an array of K;
S statuses, which are there if the record's mask says so. Fields between bars are there only on the root.
"""

from __future__ import annotations

TABLE = """
Send=idiih Recv=idiihS Get_count=Sdi Bsend=idiih Ssend=idiih Rsend=idiih Buffer_attach=i Buffer_detach=i Isend=idiihi
Ibsend=idiihi Issend=idiihi Irsend=idiihi Irecv=idiihi Wait=iS Test=iiS Request_free=i Waitany=iIiS Testany=iIiiS
Waitall=iIS Testall=iIiS Waitsome=iIiIS Testsome=iIiIS Iprobe=iihiS Probe=iihS Cancel=i Test_cancelled=Si Send_init=idiihi
Bsend_init=idiihi Ssend_init=idiihi Rsend_init=idiihi Recv_init=idiihi Start=i Startall=iI Sendrecv=idiiidiihS
Sendrecv_replace=idiiiihS Type_contiguous=idd Type_vector=iiidd Type_hvector=iiidd Type_indexed=iIIdd Type_hindexed=iIIdd
Type_struct=iIIDd Address=i Type_extent=di Type_size=di Type_lb=di Type_ub=di Type_commit=d Type_free=d Get_elements=Sdi
Pack=idiiih Unpack=iiiidh Pack_size=idhi Barrier=h Bcast=idih Gather=iidih|id| Gatherv=iiidih|II|d Scatter=iidih|id|
Scatterv=iididih|II| Allgather=ididh Allgatherv=iidIIdh Alltoall=ididh Alltoallv=iIIdIIdh Reduce=idbih Op_create=ib
Op_free=b Allreduce=idbh Reduce_scatter=iIdbh Scan=idbh Group_size=hi Group_rank=hi Group_translate_ranks=hiIhI
Group_compare=hhb Comm_group=hh Group_union=hhh Group_intersection=hhh Group_difference=hhh Group_incl=hiIh
Group_excl=hiIh Group_range_incl=hiJh Group_range_excl=hiJh Group_free=h Comm_size=hi Comm_rank=hi Comm_compare=hhb
Comm_dup=hh Comm_create=hhh Comm_split=hiih Comm_free=h Comm_test_inter=hi Comm_remote_size=hi Comm_remote_group=hh
Intercomm_create=hihiih Intercomm_merge=hih Keyval_create=h Keyval_free=h Attr_put=hi Attr_get=hii Attr_delete=hi
Topo_test=hb Cart_create=hiIIih Dims_create=iiII Graph_create=ihiIIih Graphdims_get=hii Graph_get=iihiiII Cartdim_get=hi
Cart_get=ihiIII Cart_rank=ihIi Cart_coords=ihiiI Graph_neighbors_count=hii Graph_neighbors=ihiiI Cart_shift=hiiii
Cart_sub=ihIh Cart_map=hiIIi Graph_map=ihiIIi Get_processor_name=Ci Get_version=ii Errhandler_create=h Errhandler_set=hh
Errhandler_get=hh Errhandler_free=h Error_string=iCi Error_class=ii Wtime= Wtick= Init=K Finalize= Initialized=i Abort=hi
Pcontrol=? Close_port=C Comm_accept=Chihh Comm_connect=Chihh Comm_disconnect=h Comm_get_parent=h Comm_join=ih
Comm_spawn=iihh|CKihI| Comm_spawn_multiple=iiihh|iKLIHI| Lookup_name=ChC Open_port=hC Publish_name=ChC Unpublish_name=ChC
Accumulate=idiiidbh Get=idiiidh Put=idiiidh Win_complete=h Win_create=iihhh Win_fence=bh Win_free=h Win_get_group=hh
Win_lock=bibh Win_post=hbh Win_start=hbh Win_test=hi Win_unlock=ih Win_wait=h Alltoallw=iIIDIIDh Exscan=idbh
Add_error_class=i Add_error_code=ii Add_error_string=iC Comm_call_errhandler=hi Comm_create_keyval=h Comm_delete_attr=hh
Comm_free_keyval=h Comm_get_attr=hhi Comm_get_name=hCi Comm_set_attr=hh Comm_set_name=hC File_call_errhandler=hi
Grequest_complete=i Grequest_start=i Init_thread=Kbb Is_thread_main=i Query_thread=b Status_set_cancelled=Si
Status_set_elements=Sdi Type_create_keyval=h Type_delete_attr=dh Type_dup=dd Type_free_keyval=h Type_get_attr=dhi
Type_get_contents=iiidiiiIID Type_get_envelope=diiib Type_get_name=dCi Type_set_attr=dh Type_set_name=dC
Type_match_size=bid Win_call_errhandler=hi Win_create_keyval=h Win_delete_attr=hh Win_free_keyval=h Win_get_attr=hhi
Win_get_name=hCi Win_set_attr=hh Win_set_name=hC Alloc_mem=ih Comm_create_errhandler=h Comm_get_errhandler=hh
Comm_set_errhandler=hh File_create_errhandler=h File_get_errhandler=hh File_set_errhandler=hh Finalized=i Free_mem=
Get_address=i Info_create=h Info_delete=hC Info_dup=hh Info_free=h Info_get=hCiCi Info_get_nkeys=hi Info_get_nthkey=hiC
Info_get_valuelen=hCii Info_set=hCC Pack_external=Cidiii Pack_external_size=Cidi Request_get_status=iiS
Type_create_darray=iiiIBIIbdd Type_create_hindexed=iIIdd Type_create_hvector=iiidd Type_create_indexed_block=iiIdd
Type_create_resized=diid Type_create_struct=iIIDd Type_create_subarray=iIIIbdd Type_get_extent=dii
Type_get_true_extent=dii Unpack_external=Ciiiid Win_create_errhandler=h Win_get_errhandler=hh Win_set_errhandler=hh
File_open=hCbhh File_close=h File_delete=Ch File_set_size=hq File_preallocate=hq File_get_size=hq File_get_group=hh
File_get_amode=hb File_set_info=hh File_get_info=hh File_set_view=hqddCh File_get_view=hqddC File_read_at=hqidS
File_read_at_all=hqidS File_write_at=hqidS File_write_at_all=hqidS File_iread_at=hqidi File_iwrite_at=hqidi File_read=hidS
File_read_all=hidS File_write=hidS File_write_all=hidS File_iread=hidi File_iwrite=hidi File_seek=hqb File_get_position=hq
File_get_byte_offset=hqq File_read_shared=hidS File_write_shared=hidS File_iread_shared=hidi File_iwrite_shared=hidi
File_read_ordered=hidS File_write_ordered=hidS File_seek_shared=hqb File_get_position_shared=hq
File_read_at_all_begin=hqid File_read_at_all_end=hS File_write_at_all_begin=hqid File_write_at_all_end=hS
File_read_all_begin=hid File_read_all_end=hS File_write_all_begin=hid File_write_all_end=hS File_read_ordered_begin=hid
File_read_ordered_end=hS File_write_ordered_begin=hid File_write_ordered_end=hS File_get_type_extent=hdi
Register_datarep=C File_set_atomicity=hi File_get_atomicity=hi File_sync=h IO_Test=iiS IO_Wait=iS IO_Testall=iIiS
IO_Waitall=iIS IO_Testany=iIiiS IO_Waitany=iIiS IO_Waitsome=iIiIS IO_Testsome=iIiIS ALL_FUNCTIONS=? Function_enter=q
Function_exit=q END_OF_STREAM=?
"""
FUNCTIONS = tuple(tuple(word.partition("=")[::2]) for word in TABLE.split())
"""Name and fields of each function; a field `?` is one that no record has."""

NUMBERS = {name: number for number, (name, _) in enumerate(FUNCTIONS)}

ROOT_TEST = {"Gather": (0, 3), "Gatherv": (0, 4), "Scatter": (0, 3), "Scatterv": (0, 5), "Comm_spawn": (0, 1),
             "Comm_spawn_multiple": (1, 2)}  # fmt: skip
"""The fields with the rank and the root: where they are equal, the fields between bars follow."""

OLDER = {"Init": ((0, 6, 2), "Z"), "Type_struct": ((0, 6, 9), "iIiDd"), "Cart_get": ((0, 6, 8), "ihiIIi")}
"""Fields before a version of DUMPI; Z is K with its length written twice."""
